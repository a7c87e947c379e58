import { execFile } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { INHERITED, ROOT } from '../support/command.ts';
import { setDeletions, type StoredDeletion } from '../support/deletions.ts';
import { byDepth } from '../support/depth.ts';
import { build, type ImportRecord, writeImport } from '../support/import-folder.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalSession,
  minimalTicket,
} from '../support/records.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SEED = 20_261_122;
const REFRESHES = byDepth({ short: 4, deep: 50 });
/** Time between the production of two snapshots. The recipe's overlap is 10 minutes. */
const PERIOD_MS = 4 * 60_000;
/** The latest that a transaction commits after the time in its records. */
const COMMIT_DELAY_MS = 9 * 60_000;
const COLLECTIONS = ['events', 'sessions', 'tickets', 'orders', 'offers'] as const;
type Collection = (typeof COLLECTIONS)[number];
type Contents = Readonly<Record<Collection, ReadonlyMap<string, unknown>>>;

/** A program in `examples/sync`, and the SQL of its own state, `TIME` being that of the data. */
interface SyncProgram {
  readonly command: string;
  readonly file: string;
  readonly selectSnapshotId: string;
  readonly setTime: string;
}

/** The database of an organization, as it changes, and the deletions that its snapshots list. */
class Source {
  readonly records = Object.fromEntries(
    COLLECTIONS.map((collection) => [collection, new Map<string, ImportRecord>()]),
  ) as Record<Collection, Map<string, ImportRecord>>;
  readonly #deletions = new Map<string, StoredDeletion & { readonly collection: Collection }>();
  readonly #random: Random;
  #latest = 0;

  constructor(random: Random, now: number) {
    this.#random = random;
    for (let i = 0; i < 8; i++) this.#addEvent(`evt_${i}`);
    for (let i = 0; i < 250; i++) this.#put('tickets', now);
    for (let i = 0; i < 120; i++) this.#put('orders', now);
    for (let i = 0; i < 20; i++) this.#put('offers', now);
  }

  /** Makes changes before a snapshot is produced at `now`. */
  change(now: number): void {
    const random = this.#random;
    const before = new Map(COLLECTIONS.map((each) => [each, new Set(this.records[each].keys())]));
    for (let i = random.between(0, 30); i > 0; i--) {
      const collection = random.chance(0.9) ? random.pick(['tickets', 'orders'] as const) : 'offers';
      const ids = [...this.records[collection].keys()];
      if (random.chance(0.3)) this.records[collection].delete(random.pick(ids));
      else if (random.chance(0.4)) this.#put(collection, now, random.pick(ids));
      // Some records return after their deletion.
      else if (random.chance(0.2)) this.#put(collection, now, `${collection}_${random.below(this.#latest)}`);
      else this.#put(collection, now);
    }
    if (random.chance(0.3)) this.#addEvent(`evt_${random.below(10)}`);
    if (random.chance(0.3)) this.#deleteEvent(random.pick([...this.records.events.keys()]));
    const deletedAt = new Date(now).toISOString();
    for (const [collection, ids] of before) {
      for (const id of ids.difference(this.records[collection]))
        this.#deletions.set(`${collection} ${id}`, { collection, id, deletedAt });
    }
    for (const [key, { collection, id }] of this.#deletions)
      if (this.records[collection].has(id)) this.#deletions.delete(key);
  }

  get deletions(): StoredDeletion[] {
    return [...this.#deletions.values()];
  }

  /** Adds or replaces a record, whose transaction began some time before it is visible. */
  #put(
    collection: 'tickets' | 'orders' | 'offers',
    now: number,
    id = `${collection}_${this.#latest++}`,
  ): void {
    const updatedAt = new Date(now - this.#random.below(COMMIT_DELAY_MS)).toISOString();
    const changed = String(this.#random.uint32());
    this.records[collection].set(
      id,
      collection === 'tickets'
        ? minimalTicket(id, { updatedAt, offerName: `“${changed}”\n` })
        : collection === 'orders'
          ? minimalOrder(id, { updatedAt, orderNumber: changed })
          : minimalOffer(id, 'PRODUCT', { name: changed }),
    );
  }

  #addEvent(id: string): void {
    this.#deleteEvent(id);
    this.records.events.set(id, minimalEvent(id, { title: String(this.#random.uint32()) }));
    for (let i = this.#random.between(2, 4); i > 0; i--) {
      const session = minimalSession(`ses_${this.#latest++}`, id, { startAt: '2020-01-01T20:00:00Z' });
      this.records.sessions.set(session.id, session);
    }
  }

  #deleteEvent(id: string): void {
    // A snapshot with less than half of a collection would be refused.
    if (this.records.events.size < 6) return;
    this.records.events.delete(id);
    for (const [session, { eventId }] of this.records.sessions)
      if (eventId === id) this.records.sessions.delete(session);
  }
}

/** Declares the tests of a program that keeps a copy, as docs/integrators.md explains. */
export function describeSync({ command, file, selectSnapshotId, setTime }: SyncProgram): void {
  describe(`${file} over ${REFRESHES} refreshes (seed ${SEED})`, function () {
    this.timeout(byDepth({ short: 180_000, deep: 900_000 }));
    const started = new AsyncDisposableStack();
    const inFolder = folderForAll();
    const random = new Random(SEED);
    /** The first snapshot is so old that the latest one is not in the future. */
    let now = Date.now() - (REFRESHES + 2) * PERIOD_MS;
    let replica: ReplicaUnderTest;
    let credential: string;
    /** By snapshot id. */
    const published = new Map<string, Contents>();

    before(async () => {
      mkdirSync(inFolder('snapshots'));
      credential = newCredential(inFolder, 'north');
      replica = await ReplicaUnderTest.start(inFolder);
      started.defer(() => replica.end());
    });
    after(() => started.disposeAsync());

    /** Publishes a snapshot of the source, and notes what the API serves of it. */
    async function publish(source: Source): Promise<void> {
      const files = Object.fromEntries(
        COLLECTIONS.map((each) => [each, [...source.records[each].values()].map(inOrganization('north'))]),
      );
      writeImport(inFolder('import'), {
        organizations: [{ organizationId: 'north', name: 'north' }],
        ...files,
      });
      const draft = inFolder('draft');
      const { snapshotId } = await build(inFolder('import'), draft, { producedAt: new Date(now) });
      setDeletions(draft, { north: source.deletions });
      const from = replica.log.length;
      renameSync(draft, join(inFolder('snapshots'), 'north.sqlite'));
      const outcome = await Promise.race([
        replica.waitForLog({ msg: 'snapshot live', snapshotId }, from),
        replica.waitForLog({ msg: 'snapshot refused' }, from),
      ]);
      expect(outcome, JSON.stringify(outcome)).to.include({ msg: 'snapshot live' });
      const contents = await contentsOf([...source.records.events.keys()]);
      for (const each of COLLECTIONS) {
        expect([...contents[each].keys()], each).to.have.members([...source.records[each].keys()]);
      }
      published.set(snapshotId, contents);
    }

    /** Reads all records of the API, page by page. */
    async function contentsOf(eventIds: readonly string[]): Promise<Contents> {
      return {
        events: await listed('/v1/events', 'id'),
        sessions: new Map(
          (await Promise.all(eventIds.map((id) => listed(`/v1/events/${id}/sessions`, 'id')))).flatMap(
            (one) => [...one],
          ),
        ),
        tickets: await listed('/v1/tickets', 'ticketId'),
        orders: await listed('/v1/orders', 'orderId'),
        offers: await listed('/v1/catalog/offers', 'offerId'),
      };
    }

    async function listed(path: string, idField: string): Promise<Map<string, unknown>> {
      const records = new Map<string, unknown>();
      for (let link: string | null = `${path}?perPage=100`; link !== null;) {
        const { status, text } = await replica.request(link, credential, {
          'Service-API-Version': 'preview',
        });
        expect(status, link).to.equal(200);
        const page = JSON.parse(text) as { items: Record<string, unknown>[]; nextPage: string | null };
        for (const item of page.items) records.set(String(item[idField]), item);
        link = page.nextPage;
      }
      return records;
    }

    /** Makes a round, as users do. */
    async function sync(key = credential): Promise<void> {
      await promisify(execFile)(
        command,
        [join(ROOT, 'examples/sync', file), replica.origin, inFolder('copy.sqlite')],
        { env: { ...INHERITED, FOYER_KEY: key } },
      );
    }

    /** Returns the copy, the events of its sessions, and the snapshot that it is of. */
    function copy() {
      const database = new Database(inFolder('copy.sqlite'), { readonly: true });
      const rows = database
        .prepare<[], { collection: string; id: string; event_id: string | null; body: string }>(
          'SELECT * FROM records',
        )
        .all();
      const snapshotId = database.prepare<[], string>(selectSnapshotId).pluck().get();
      database.close();
      const contents = Object.fromEntries(
        COLLECTIONS.map((each) => [
          each,
          new Map(
            rows
              .filter(({ collection }) => collection === each)
              .map(({ id, body }) => [id, JSON.parse(body) as unknown]),
          ),
        ]),
      );
      const eventOf = new Map(rows.map((row) => [row.id, row.event_id]));
      return { snapshotId: snapshotId ?? '', contents, eventOf };
    }

    it('keeps a copy that equals the data of a snapshot after each round, and of the live one when nothing changes', async () => {
      const source = new Source(random, now);
      await publish(source);
      const seen = new Set<string>();
      for (let refresh = 1; refresh <= REFRESHES; refresh++) {
        now += PERIOD_MS;
        source.change(now);
        // Newer data goes live before, during or after every second round.
        const isDuring = random.chance(0.5);
        if (isDuring) await Promise.all([publish(source), sync()]);
        else await publish(source).then(() => sync());
        const { snapshotId, contents } = copy();
        if (!isDuring) expect(snapshotId, `round ${refresh}`).to.equal([...published.keys()].at(-1));
        expect(contents, `round ${refresh}`).to.deep.equal(published.get(snapshotId));
        seen.add(snapshotId);
      }
      await sync();
      const { contents, eventOf } = copy();
      expect(contents).to.deep.equal([...published.values()].at(-1));
      for (const { id, eventId } of source.records.sessions.values())
        expect(eventOf.get(String(id)), String(id)).to.equal(eventId);
      expect(seen.size).to.be.above(REFRESHES / 2);
    });

    for (const [title, time] of [
      ['older than deletions are listed', '2020-01-01T00:00:00.000Z'],
      ['newer than the data, as after a rollback', '2100-01-01T00:00:00.000Z'],
    ] as const)
      it(`begins anew when the copy is ${title}`, async () => {
        change(setTime.replace('TIME', time));
        change("INSERT INTO records VALUES ('tickets', 'in the copy only', NULL, '{}')");
        await sync();
        expect(copy().contents).to.deep.equal([...published.values()].at(-1));
      });

    it('leaves the copy as it was when a round fails', async () => {
      const before = copy();
      const failure = await sync(`${credential}x`).catch((error: unknown) => error);
      expect(failure)
        .to.include({ code: 1 })
        .and.to.have.property('stderr')
        .that.matches(/^not copied: .*403/);
      expect(copy()).to.deep.equal(before);
    });

    function change(sql: string): void {
      const database = new Database(inFolder('copy.sqlite'));
      database.exec(sql);
      database.close();
    }
  });
}

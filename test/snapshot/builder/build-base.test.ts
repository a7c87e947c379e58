import { randomUUID } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import { EarlierSnapshot } from '../../../src/snapshot/builder/merge/earlier-snapshot.ts';
import type { BuildOptions } from '../../../src/snapshot/builder/build-snapshot.ts';
import { UnreadableImport } from '../../../src/snapshot/builder/import/import-files.ts';
import type { BuildProgress } from '../../../src/snapshot/builder/staging/read-import.ts';
import { describeGroup, ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { SnapshotWriter } from '../../../src/snapshot/builder/merge/snapshot-writer.ts';
import { type CollectionLayout, COLLECTIONS, TICKETS } from '../../../src/snapshot/format/layout.ts';
import { beginsRun } from '../../../src/snapshot/format/schema.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { byDepth } from '../../support/depth.ts';
import { setDeletions } from '../../support/deletions.ts';
import { reseal, restamp } from '../../support/digests.ts';
import { build, digestsOf, type Import, PRODUCED_AT, writeImport } from '../../support/import-folder.ts';
import { inOrganization, minimalOrder, minimalTicket, times } from '../../support/records.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { withFolder } from '../../support/temporary-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { histories, World } from '../../support/random-history.ts';
import { Builds, type BuiltFile } from '../builds.ts';

const later = (step: number) => new Date(PRODUCED_AT.getTime() + step);
const digestsIn = (file: string) => digestsOf(readSnapshot(file, { isThorough: true }));

/** Returns the deletions of a snapshot file, in any order. */
function deletionsIn(file: string): string[] {
  const database = new Database(file, { readonly: true });
  const rows = database
    .prepare<[], string>(
      "SELECT deleted_at || ' ' || json_array(organization_id, collection, id) FROM deletions",
    )
    .pluck()
    .all();
  database.close();
  return rows.sort();
}

interface StoredRecord {
  readonly key: string;
  /** The served record, and the event of a session. */
  readonly content: string;
  readonly changedAt: string;
}

/** Returns the records of a snapshot file, with the times of their last changes. */
function recordsIn(file: string): StoredRecord[] {
  const database = new Database(file, { readonly: true });
  const ofCollection = ({ name, resource }: CollectionLayout) =>
    database
      .prepare<[], StoredRecord>(
        `SELECT json_array('${name}', organization_id, record ->> '${resource.id}') AS key,
                record || ${name === 'sessions' ? 'event_id' : "''"} AS content, changed_at AS changedAt
         FROM ${name}`,
      )
      .all();
  const records = COLLECTIONS.flatMap(ofCollection);
  database.close();
  return records;
}

/** Copies the tickets of the organization `north` into a snapshot that another program might write, with other runs. */
async function recut(file: string, output: string, begins: (row: number) => boolean): Promise<void> {
  using source = new EarlierSnapshot(file, later(1));
  const records = source
    .runs(TICKETS, ['north'])
    .flatMap((run) => times(run.count, (row) => ({ json: run.jsonAt(row), values: run.valuesAt(row) })))
    .map((record, row) => ({ ...record, organization: 0, beginsRun: begins(row) }));
  const writer = new SnapshotWriter(output, source.names, PRODUCED_AT.toISOString());
  for (const written of writer.write(TICKETS, records)) expect(written).to.be.greaterThan(0);
  await writer.finish(randomUUID(), [], () => undefined);
  const database = new Database(output);
  database.exec('UPDATE snapshot SET canonical_runs = 0');
  database.close();
  restamp(output);
}

describe('A build with a base', () => {
  const { inFolder, build: built } = new Builds();
  const north = inOrganization('north');
  const deletion = (collection: string, id: string) => north({ collection, id });
  let base: BuiltFile;

  before(async () => {
    base = await built(SMALL_IMPORT);
  });

  const change = (files: Import, options: Partial<BuildOptions> = {}) =>
    built(files, { base: base.file, producedAt: later(1), ...options });

  it('has the content digests of a build of all records, deletions and changes, after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        await withFolder(async (inFolder) => {
          const world = new World();
          const file = inFolder('a.sqlite');
          const [whole, before] = ['whole', 'before'].map((name) => inFolder(`${name}.sqlite`));
          const keepChangesMs = 2;
          let deletions = new Map<string, string>();
          let records: ReadonlyMap<string, StoredRecord> = new Map();
          for (const [step, changes] of history.entries()) {
            const idsBefore = world.ids();
            const { deletions: deleted, ...changed } = world.apply(changes);
            const producedAt = later(step);
            for (const id of idsBefore.difference(world.ids())) deletions.set(id, producedAt.toISOString());
            const keptSince = later(Math.max(0, step - keepChangesMs)).toISOString();
            deletions = new Map([...deletions].filter(([id, at]) => !world.ids().has(id) && at > keptSince));
            writeImport(inFolder('all'), world.all());
            if (step === 0) {
              await build(inFolder('all'), file);
              await build(inFolder('all'), whole);
            } else {
              const input = inFolder(`changes-${step}`);
              writeImport(input, { ...changed, deletions: deleted });
              // The output replaces the base.
              await build(input, file, { base: file, producedAt, keepChangesMs });
              renameSync(whole, before);
              await build(inFolder('all'), whole, { previous: before, producedAt, keepChangesMs });
            }
            // A record with the same content has the same time.
            records = new Map(
              recordsIn(whole).map((record) => {
                const earlier = records.get(record.key);
                const isSame = earlier?.content === record.content;
                const changedAt = isSame ? earlier.changedAt : producedAt.toISOString();
                return [record.key, { ...record, changedAt }];
              }),
            );
            for (const built of [file, whole])
              expect(recordsIn(built), `step ${step}`).to.have.deep.members([...records.values()]);
          }
          expect(digestsIn(file)).to.deep.equal(digestsIn(whole));
          const expected = Array.from(deletions, ([id, at]) => `${at} ${id}`).sort();
          for (const built of [file, whole]) expect(deletionsIn(built)).to.deep.equal(expected);
        });
      }),
      { seed: 20261122, numRuns: byDepth({ short: 2, deep: 100 }) },
    );
  });

  it('counts its records, and those that the import and the deletions change', async () => {
    const { report } = await change({
      tickets: [
        { ...SMALL_IMPORT.tickets[3], status: 'NEW' },
        north(minimalTicket('more')),
        north(minimalTicket('tkt_5', { status: 'AGAIN' })),
      ],
      deletions: [
        deletion('tickets', 'tkt_4'),
        deletion('tickets', 'tkt_5'),
        deletion('orders', 'none'),
        deletion('offers', 'off_4'),
      ],
    });
    expect(report.changes).to.deep.include({ replaced: 2, added: 1, deleted: 2, withoutRecord: 1 });
    expect(report.records).to.deep.equal({ events: 8, sessions: 20, tickets: 120, orders: 18, offers: 9 });
  });

  it('keeps the names of organizations that are not renamed, and adds new ones', async () => {
    const { file } = await change({
      organizations: [
        { organizationId: 'south' },
        { organizationId: 'north', name: 'N' },
        { organizationId: 'east' },
      ],
      orders: [inOrganization('east')(minimalOrder('first'))],
    });
    const { organizations } = inspectSnapshot(file);
    expect(organizations.map(({ organizationId, name }) => `${organizationId} ${name}`)).to.deep.equal([
      'east east',
      'north N',
      'south Süd',
    ]);
  });

  it('copies the runs that do not change', async () => {
    const tickets = times(6000, (i) =>
      north(minimalTicket(`t${i}`, { issuedAt: new Date(Date.UTC(2026, 0, 1) - i * 1000).toISOString() })),
    );
    const { file } = await built({ ...SMALL_IMPORT, tickets });
    const { organizations } = inspectSnapshot(file);
    expect(organizations[0].runs.tickets.length).to.be.within(3, 12);
    const runs = organizations.flatMap((organization) => Object.values(organization.runs).flat()).length;
    const { report } = await change({ tickets: [{ ...tickets[3000], status: 'NEW' }] }, { base: file });
    // One run of tickets is written, and those of events and sessions of both organizations.
    expect(report.changes?.runs).to.deep.equal({ copied: runs - 5, written: 5 });
  });

  describe('cuts the runs of a build of all records', () => {
    const organizations = [{ organizationId: 'north' }];
    // Some of the ids begin a run.
    const tickets = times(4500, (i) => north(minimalTicket(`t${i}`)));
    for (const [where, begins] of [
      ['every 100 records', (row: number) => row % 100 === 0],
      ['by number alone', () => false],
      ['at some of the same records', (row: number) => row % 2 === 0 && beginsRun(`t${row}`)],
    ] as const) {
      it(`from a base that another writer cut ${where}`, async () => {
        const { file, image } = await built({ organizations, tickets });
        await recut(file, `${file}.foreign`, begins);
        expect(digestsIn(`${file}.foreign`)).to.not.deep.equal(digestsOf(image));
        const changed = await change({ tickets: [] }, { base: `${file}.foreign` });
        expect(digestsOf(changed.image)).to.deep.equal(digestsOf(image));
      });
    }

    const wide = (i: number, width = 520_000) =>
      north(minimalOrder(`ord_${10 + i}`, { paymentMethod: 'é'.repeat(width) }));
    const orders = times(36, (i) => wide(i));
    let wideBase: BuiltFile;
    before(async () => {
      wideBase = await built({ organizations, orders });
    });

    for (const [what, row, by, runs] of [
      ['a smaller first record of the second run', 16, [wide(16, 1)], { copied: 0, written: 3 }],
      ['a record less in the first run', 3, [], { copied: 0, written: 3 }],
      ['no first record of the second run', 16, [], { copied: 1, written: 2 }],
      ['a change in the last run', 35, [wide(35, 5)], { copied: 2, written: 1 }],
    ] as const) {
      it(`where they end at 16 MiB, with ${what}`, async () => {
        const whole = await built({ organizations, orders: orders.toSpliced(row, 1, ...by) });
        const deletions = by.length === 0 ? [deletion('orders', String(orders[row]['orderId']))] : [];
        const { report, image } = await change({ orders: by, deletions }, { base: wideBase.file });
        expect(digestsOf(image)).to.deep.equal(digestsOf(whole.image));
        expect(report.changes?.runs).to.deep.equal(runs);
      });
    }
  });

  describe('refuses', () => {
    const [ticket] = SMALL_IMPORT.tickets;
    for (const [what, files, ...expected] of [
      [
        'a deletion that leaves a session without its event, and names the session',
        { deletions: [deletion('events', 'evt_3')] },
        'BASE: eventId must be an event of the organization, found "evt_3" in sessions "ses_3": 2 records',
      ],
      [
        'deletions that leave an event without a session, and names the event',
        { deletions: ['ses_3', 'ses_7'].map((id) => deletion('sessions', id)) },
        'BASE: id must have a session, found "evt_3" in events "evt_3": 1 record',
      ],
      [
        'an id that occurs twice in the import',
        { tickets: [ticket, ticket] },
        'tickets.ndjson: ticketId must be unique, found "tkt_0" also on line 1: line 2',
      ],
      [
        'deletions that name no collection or organization',
        {
          deletions: [
            { ...deletion('tickets', 'tkt_0'), organizationId: 'west' },
            deletion('ticket', 'tkt_0'),
            'tkt_0',
          ],
        },
        'deletions.ndjson: organizationId must be in the base or in organizations.ndjson, found "west": line 1',
        'deletions.ndjson: collection must be one of events, sessions, tickets, orders, offers, found "ticket": line 2',
        'deletions.ndjson: the line must be a JSON object, found tkt_0: line 3',
      ],
    ] satisfies [string, Import, ...string[]][]) {
      it(what, async () => {
        const { groups } = await refusalOf(change(files), ImportRejected);
        const found = groups.map((group) => describeGroup(group).replace(base.file, 'BASE'));
        expect(found).to.deep.equal(expected);
      });
    }

    it('such deletions beside a bad line, and counts records of the base apart from lines', async () => {
      const deletions = ['bad', deletion('events', 'evt_3'), deletion('sessions', 'ses_5')];
      expect((await refusalOf(change({ deletions }), ImportRejected)).message).to.equal(
        'the import contains 1 bad line and contradicts 2 records of the base',
      );
    });

    it('deletions without a base', async () => {
      await refusalOf(change({ deletions: [] }, { base: undefined }), UnreadableImport);
    });

    const changed = (sql: string) => (path: string) => new Database(path).exec(sql).close();
    for (const [what, reason, producedAt, alter] of [
      ['not earlier', 'older', PRODUCED_AT, () => undefined],
      [
        'damaged',
        'damaged',
        later(1),
        changed(`UPDATE ticket_runs SET records = replace(records, 'tkt_1"', 'tkt_x"')`),
      ],
      [
        'invalid in its deletions, under matching digests',
        'inconsistent',
        later(1),
        (path) => {
          setDeletions(path, {
            north: [{ collection: 'forms', id: 'gone', deletedAt: '2026-01-01T00:00:00Z' }],
          });
        },
      ],
      [
        'invalid in its changes, under matching digests',
        'inconsistent',
        later(1),
        (path) => {
          changed("UPDATE ticket_runs SET changed_at = replace(changed_at, '-', '_')")(path);
          reseal(path);
        },
      ],
    ] satisfies [string, string, Date, (path: string) => unknown][]) {
      it(`a base that is ${what}`, async () => {
        const path = inFolder(`${what}.sqlite`);
        copyFileSync(base.file, path);
        alter(path);
        const refusal = await refusalOf(change({}, { base: path, producedAt }), RefusedSnapshot);
        expect(refusal.reason).to.equal(reason);
      });
    }
  });

  it('leaves the base as it was when it is aborted, although the output has its name', async () => {
    const before = readFileSync(base.file);
    const input = inFolder('aborted');
    writeImport(input, { tickets: [SMALL_IMPORT.tickets[0]] });
    const entries = readdirSync(inFolder('.'), { recursive: true });
    const abort = new AbortController();
    const options = {
      base: base.file,
      producedAt: later(1),
      signal: abort.signal,
      onProgress: ({ step }: BuildProgress) => {
        if (step === 'written') abort.abort(new Error('stopped'));
      },
    };
    expect((await refusalOf(build(input, base.file, options), Error)).message).to.equal('stopped');
    expect(readFileSync(base.file).equals(before)).to.equal(true);
    expect(readdirSync(inFolder('.'), { recursive: true })).to.deep.equal(entries);
  });
});

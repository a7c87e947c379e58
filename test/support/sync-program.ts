import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import { Random } from '../../scripts/sample/random.ts';
import type { BuildOptions } from '../../src/snapshot/builder/build-options.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import { publishSnapshot } from '../../src/snapshot/publish/publish-snapshot.ts';
import { EVENT_IDS, histories, ORGANIZATIONS, World } from './random-history.ts';
import { INHERITED, ROOT } from './command.ts';
import { byDepth } from './depth.ts';
import {
  build,
  type CopiedRecord,
  copiedRecords,
  type Import,
  type ImportRecord,
  organizationOf,
  writeImport,
} from './import-folder.ts';
import { readSnapshot } from './read-snapshot.ts';
import { FULL_RECORDS, FULL_TICKET, FULL_TICKET_OFFER, inOrganization, minimalTicket } from './records.ts';
import { rejectionOf } from './refusal.ts';
import { newCredential, ReplicaUnderTest } from './replica-under-test.ts';
import { listen } from './serve.ts';
import { folderForAll } from './temporary-folder.ts';

const SEED = 20_261_122;
const PREVIEW = { 'Service-API-Version': 'preview' };

const [organizationId] = ORGANIZATIONS;
const own = inOrganization(organizationId);
const organizations = ORGANIZATIONS.map((id) => ({ organizationId: id }));

/** Records with every field, and values that are difficult to copy. */
const COMPLETE = { organizations, ...byCollection(({ name }) => FULL_RECORDS[name].map(own)) };
COMPLETE.tickets.push(own(minimalTicket('tkt_2', { listPrice: 1.5 })));

/** Deletes two of these records, in a build with their snapshot as base. */
const DELETIONS = {
  organizations,
  deletions: [
    { collection: 'tickets', id: FULL_TICKET.ticketId },
    { collection: 'offers', id: FULL_TICKET_OFFER.offerId },
  ].map(own),
};

/** A program that keeps a copy. */
interface SyncProgram {
  readonly command: string;
  /** Path in `examples`. */
  readonly file: string;
  /** Random snapshots that the program follows in a short test. */
  readonly steps?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard error of a round that gets 403. */
  readonly refused: RegExp;
  /** Moments at which the program is killed, and the line of its log, on standard error, that announces each. */
  readonly moments?: Readonly<Record<string, RegExp>>;
  /** Reads the copy in a database. */
  readonly read: (database: string) => Copied;
  /** Returns what a copy has of a record; by default, all of it. */
  readonly copied?: (record: ImportRecord) => ImportRecord;
}

/** A copy, and the time of its data. */
export interface Copied {
  readonly time: string;
  readonly rows: readonly CopiedRecord[];
}

/** Returns the reader of a copy in SQLite. */
export function sqliteReader(selectTime: string): SyncProgram['read'] {
  return (path) => {
    const database = new Database(path, { readonly: true });
    const rows = database.prepare<[], CopiedRecord>('SELECT * FROM records').all();
    const time = database.prepare<[], string>(selectTime).pluck().get() ?? '';
    database.close();
    return { time, rows };
  };
}

/** Ends a response as a proxy may do: without a length, and without chunks. */
function endEarly(response: ServerResponse, part: Buffer): void {
  response.useChunkedEncodingByDefault = false;
  response.shouldKeepAlive = false;
  response.end(part);
}

/** More than the pause that programs make without Retry-After. */
const RETRY_SECONDS = 2;

/** What the first response of a round is, in place of the whole one. `part` is the beginning of its body. */
const FAULTS = {
  '429': (response) => response.writeHead(429, { 'Retry-After': RETRY_SECONDS }).end(),
  '429 without Retry-After': (response) => response.writeHead(429).end('<html>'),
  reset: (response, part) => response.write(part, () => response.destroy()),
  'cut within a line': endEarly,
  'cut after a line': (response, part) => {
    endEarly(response, part.subarray(0, part.lastIndexOf('\n') + 1));
  },
  'late, and the program is killed': (response, part) => response.write(part),
} as const satisfies Record<string, (response: ServerResponse, part: Buffer) => unknown>;

type Fault = keyof typeof FAULTS;

/** The snapshot that another one descends from, as base or as previous one. */
type Earlier = Pick<BuildOptions, 'base' | 'previous'>;

/** Records as JSON, by collection and id. */
type Contents = ReadonlyMap<string, string>;

const identity = (record: ImportRecord): ImportRecord => record;

/** Declares the tests of a program that keeps a copy, as docs/integrators.md explains. */
export function describeSync(program: SyncProgram): void {
  const { command, file, environment, refused, moments = {}, read, copied = identity } = program;
  const steps = byDepth({ short: program.steps ?? 10, deep: 75 });
  /** The first of the steps that follow those of the random history. */
  const complete = steps + 1;

  describe(`${file} over ${steps} snapshots (seed ${SEED})`, function () {
    this.timeout(byDepth({ short: 240_000, deep: 1_200_000 }));
    const inFolder = folderForAll();
    const random = new Random(SEED);
    const world = new World();
    /** The contents of the snapshots that were live, by their time. */
    const contents = new Map<string, Contents>();
    let liveTime = '';
    let replica: ReplicaUnderTest;
    let credential: string;

    // The token of a later snapshot gets 429 for two seconds.
    const startReplica = () => ReplicaUnderTest.start(inFolder, { CHANGES_WAIT_SECONDS: '2' });
    const snapshotOf = (step: number) => inFolder(`${step}.sqlite`);

    before(async () => {
      credential = newCredential(inFolder, organizationId);
      replica = await startReplica();
      await buildStep(0, {});
      await goLive(0);
    });
    after(() => replica.end());

    /** Builds the snapshot of a step: from its changes with a base, else from all records. */
    async function buildStep(step: number, earlier: Earlier): Promise<void> {
      // A sample is short.
      const samples = fc.sample(histories, { seed: SEED + step, numRuns: step === 0 ? 40 : 4 });
      const changes = world.apply(samples.flat(2));
      await buildImport(step, earlier.base === undefined ? world.all() : changes, earlier);
    }

    async function buildImport(step: number, files: Import, earlier: Earlier): Promise<void> {
      const input = inFolder(`import-${step}`);
      writeImport(input, files);
      const producedAt = new Date(Date.UTC(2026, 0, 1) + step * 60_000);
      await build(input, snapshotOf(step), { producedAt, ...earlier });
    }

    /** Puts the snapshot of a step into the folder. Returns its id. */
    async function publish(step: number): Promise<string> {
      const { manifest } = await publishSnapshot({
        file: snapshotOf(step),
        path: inFolder('snapshots/pair.sqlite'),
        permits: ['rollback', 'shrink'],
      });
      liveTime = manifest.producedAt;
      return manifest.snapshotId;
    }

    function entryOf({ collection, id, event_id, body }: CopiedRecord): [string, string] {
      // These fields depend on the time of the request.
      const lasting = { ...(JSON.parse(body) as object), nextSessionStartAt: null, nextSessionId: null };
      return [`${collection} ${id}`, JSON.stringify([event_id, copied(lasting)])];
    }

    async function goLive(step: number): Promise<void> {
      const from = replica.log.length;
      const snapshotId = await publish(step);
      await replica.waitForLog({ msg: 'snapshot live', snapshotId }, from);
      const organization = organizationOf(readSnapshot(snapshotOf(step)), organizationId);
      contents.set(liveTime, new Map(copiedRecords(organization).map(entryOf)));
    }

    /** Starts a round, as users do. */
    function sync(origin = replica.origin, key = credential, ...more: readonly string[]) {
      const words = [join(ROOT, 'examples', file), origin, inFolder('copy'), ...more];
      const env = { ...INHERITED, HOME: inFolder('.'), ...environment, FOYER_KEY: key };
      return promisify(execFile)(command, words, { env });
    }

    /** Makes a round, and kills it at a line of its log, if the line appears. Returns the error. */
    async function syncUntil(line: RegExp): Promise<unknown> {
      const round = sync();
      let log = '';
      round.child.stderr?.on('data', (text: string) => {
        log += text;
        if (line.test(log)) round.child.kill('SIGKILL');
      });
      return round.catch((error: unknown) => error);
    }

    /** Makes a round whose first response has a fault. It ends in any way. */
    async function syncWith(fault: Fault): Promise<void> {
      const arrived = Promise.withResolvers<undefined>();
      const times: number[] = [];
      await using server = createServer(({ url = '' }, response) => {
        void replica.request(url, credential, PREVIEW).then(({ status, text }) => {
          const body = Buffer.from(text);
          if (!url.startsWith('/v1/changes') || times.push(performance.now()) > 1) {
            response.writeHead(status).end(body);
            return;
          }
          FAULTS[fault](response, body.subarray(0, random.between(1, body.length - 1)));
          arrived.resolve(undefined);
        });
      });
      const round = sync(`http://127.0.0.1:${await listen(server)}`);
      if (fault === 'late, and the program is killed')
        void arrived.promise.then(() => delay(random.below(50))).then(() => round.child.kill('SIGKILL'));
      await round.catch((error: unknown) => error);
      server.closeAllConnections();
      if (fault === '429') expect(times[1] - times[0]).to.be.at.least(RETRY_SECONDS * 1000);
    }

    /** Returns the copy, and the time of its data. */
    function copy(): { readonly time: string; readonly records: Contents } {
      const { time, rows } = read(inFolder('copy'));
      const records = new Map(rows.map(entryOf));
      expect(records.size).to.equal(rows.length);
      return { time, records };
    }

    /** Expects that the copy equals a snapshot, by default the live one. */
    function expectCopyOf(time = liveTime): void {
      const found = copy();
      expect(found.time).to.equal(time);
      expect(found.records).to.deep.equal(contents.get(time));
    }

    async function syncAndCompare(): Promise<void> {
      await sync();
      expectCopyOf();
    }

    it('copies a snapshot', syncAndCompare);

    it('follows snapshots, whatever interrupts a round', async () => {
      const faults = Object.keys(FAULTS) as Fault[];
      let faulty = 0;
      for (let step = 1; step <= steps; step++) {
        const earlier = snapshotOf(step - 1);
        await buildStep(step, random.pick([{ base: earlier }, { base: earlier }, { previous: earlier }, {}]));
        const { time } = copy();
        // Some snapshots go live before a round, some during one, and some without a round.
        if (random.chance(0.2)) {
          await Promise.all([goLive(step), sync()]);
          expectCopyOf(copy().time);
          continue;
        }
        await goLive(step);
        if (random.chance(0.1)) continue;
        const fault = faults[faulty++ % faults.length];
        await syncWith(fault);
        expectCopyOf(fault.endsWith('killed') ? time : copy().time);
        await syncAndCompare();
      }
      await syncAndCompare();
    });

    it('copies some events, and all of them again', async () => {
      const some = EVENT_IDS.slice(0, 2).join();
      await sync(replica.origin, credential, '--events', some);
      const { text } = await replica.request(`/v1/changes?eventIds=${some}`, credential, PREVIEW);
      const keys = Array.from(
        text.matchAll(/^{"change":"put","collection":"(\w+)","id":("(?:[^"\\]|\\.)*")/gm),
        ([, collection, id]) => `${collection} ${JSON.parse(id) as string}`,
      );
      expect(keys).to.not.have.length(0);
      const whole = contents.get(liveTime);
      expect([...copy().records]).to.have.deep.members(keys.map((key) => [key, whole?.get(key)]));
      await syncAndCompare();
    });

    it('leaves the copy as it was when a round fails', async () => {
      const failure = await sync(replica.origin, `${credential}x`).catch((error: unknown) => error);
      expect(failure).to.include({ code: 1 }).and.to.have.property('stderr').that.matches(refused);
      expectCopyOf();
    });

    it('copies every field, and records that are deleted and restored', async () => {
      await buildImport(complete, COMPLETE, {});
      for (const step of [1, 2, 3, 4]) {
        const files = step % 2 === 1 ? DELETIONS : COMPLETE;
        await buildImport(complete + step, files, { base: snapshotOf(complete + step - 1) });
      }
      for (const step of [0, 1, 2]) {
        await goLive(complete + step);
        await syncAndCompare();
      }
      // Deleted and restored between two rounds.
      await goLive(complete + 3);
      await goLive(complete + 4);
      await syncAndCompare();
    });

    for (const [moment, line] of Object.entries(moments))
      it(`continues after it was killed ${moment}`, async () => {
        // The first round is a reset, after a rollback. The third one has changes.
        for (const step of [0, 2]) {
          await goLive(complete + step);
          expect(await syncUntil(line)).to.include({ signal: 'SIGKILL' });
          await goLive(complete + step + 1);
          await syncAndCompare();
        }
      });

    it('follows a snapshot without records', async () => {
      const step = complete + 5;
      await buildImport(step, new World().all(), {});
      await goLive(step);
      await syncAndCompare();
      expect(copy().records.size).to.equal(0);
    });

    it('follows a service that restarts, also on an older snapshot', async () => {
      await replica.end();
      replica = await startReplica();
      await syncAndCompare();
      await replica.end();
      await publish(steps - 2);
      replica = await startReplica();
      await syncAndCompare();
    });

    for (const entry of ['machine 127.0.0.1', 'default'])
      it(`sends the key when ~/.netrc has other credentials: ${entry}`, async () => {
        writeFileSync(inFolder('.netrc'), `${entry} login user password pass\n`, { mode: 0o600 });
        await syncAndCompare();
      });

    it('follows no redirect', async () => {
      const paths: string[] = [];
      await using server = createServer(({ url = '' }, response) => {
        paths.push(url.replace(/\?.*/, ''));
        if (url.startsWith('/v1/')) response.writeHead(308, { Location: '/elsewhere' }).end();
        else void replica.request(url, credential).then(({ text }) => response.end(text));
      });
      const failure = await rejectionOf(sync(`http://127.0.0.1:${await listen(server)}`));
      expect(failure.message).to.match(/redirect/);
      expect(paths).to.include('/v1/changes').and.not.to.include('/elsewhere');
      expectCopyOf();
    });
  });
}

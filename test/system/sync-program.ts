import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import { Random } from '../../scripts/sample/random.ts';
import { publishSnapshot } from '../../src/snapshot/publish/publish-snapshot.ts';
import { histories, ORGANIZATIONS, World } from '../snapshot/builder/random-history.ts';
import { INHERITED, ROOT } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SEED = 20_261_122;
const STEPS = byDepth({ short: 15, deep: 75 });
const PREVIEW = { 'Service-API-Version': 'preview' };

/** A program in `examples/sync`, and the SQL that selects the time of the data from its state. */
interface SyncProgram {
  readonly command: string;
  readonly file: string;
  readonly selectTime: string;
}

/** Records as JSON, by collection and id. */
type Contents = ReadonlyMap<string, string>;

function entryOf(collection: string, id: string, eventId: string | null, json: string): [string, string] {
  // These fields depend on the time of the request.
  const lasting = { ...(JSON.parse(json) as object), nextSessionStartAt: null, nextSessionId: null };
  return [`${collection} ${id}`, JSON.stringify([eventId, lasting])];
}

/** Ends a response as a proxy may do: without a length, and without chunks. */
function endEarly(response: ServerResponse, part: Buffer): void {
  response.useChunkedEncodingByDefault = false;
  response.shouldKeepAlive = false;
  response.end(part);
}

/** What the first response of a round is, in place of the whole one. `part` is the beginning of its body. */
const FAULTS = {
  '429': (response) => response.writeHead(429, { 'Retry-After': '1' }).end(),
  '429 without Retry-After': (response) => response.writeHead(429).end('<html>'),
  reset: (response, part) => response.write(part, () => response.destroy()),
  'cut within a line': endEarly,
  'cut after a line': (response, part) => {
    endEarly(response, part.subarray(0, part.lastIndexOf('\n') + 1));
  },
  'late, and the program is killed': (response, part) => response.write(part),
} as const satisfies Record<string, (response: ServerResponse, part: Buffer) => unknown>;

type Fault = keyof typeof FAULTS;

/** Declares the tests of a program that keeps a copy, as docs/integrators.md explains. */
export function describeSync({ command, file, selectTime }: SyncProgram): void {
  describe(`${file} over ${STEPS} snapshots (seed ${SEED})`, function () {
    this.timeout(byDepth({ short: 180_000, deep: 900_000 }));
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
      credential = newCredential(inFolder, ORGANIZATIONS[0]);
      replica = await startReplica();
      await buildStep(0, {});
      await goLive(0);
    });
    after(() => replica.end());

    /** Builds the snapshot of a step: from its changes with a base, else from all records. */
    async function buildStep(step: number, earlier: { base?: string; previous?: string }): Promise<void> {
      const [history] = fc.sample(histories, { seed: SEED + step, numRuns: 1 });
      const changes = world.apply(step === 0 ? history.flat() : (history.at(-1) ?? []));
      const input = inFolder(`import-${step}`);
      writeImport(input, earlier.base === undefined ? world.all() : changes);
      const producedAt = new Date(Date.UTC(2026, 0, 1) + step * 60_000);
      await build(input, snapshotOf(step), { producedAt, ...earlier });
    }

    /** Puts the snapshot of a step into the folder. Returns its id. */
    async function publish(step: number): Promise<string> {
      const { manifest } = await publishSnapshot({
        ...{ file: snapshotOf(step), folder: inFolder('snapshots'), name: 'pair.sqlite' },
        permits: ['rollback', 'shrink'],
      });
      liveTime = manifest.producedAt;
      return manifest.snapshotId;
    }

    async function goLive(step: number): Promise<void> {
      const from = replica.log.length;
      const snapshotId = await publish(step);
      await replica.waitForLog({ msg: 'snapshot live', snapshotId }, from);
      contents.set(liveTime, await liveContents());
    }

    async function liveContents(): Promise<Contents> {
      const entries: [string, string][] = [];
      const read = async (path: string, collection: string, eventId: string | null = null) => {
        const headers = { ...PREVIEW, Accept: 'application/x-ndjson' };
        const { status, text } = await replica.request(path, credential, headers);
        expect(status, path).to.equal(200);
        const lines = text.split('\n').slice(0, -1);
        const ids = lines.map((line) => String(Object.values(JSON.parse(line) as object)[0]));
        entries.push(...lines.map((line, i) => entryOf(collection, ids[i], eventId, line)));
        return ids;
      };
      for (const id of await read('/v1/events', 'events'))
        await read(`/v1/events/${encodeURIComponent(id)}/sessions`, 'sessions', id);
      for (const collection of ['tickets', 'orders']) await read(`/v1/${collection}`, collection);
      await read('/v1/catalog/offers', 'offers');
      return new Map(entries);
    }

    /** Starts a round, as users do. */
    function sync(origin = replica.origin, key = credential) {
      const words = [join(ROOT, 'examples/sync', file), origin, inFolder('copy.sqlite')];
      return promisify(execFile)(command, words, { env: { ...INHERITED, FOYER_KEY: key } });
    }

    /** Makes a round whose first response has a fault. It ends in any way. */
    async function syncWith(fault: Fault): Promise<void> {
      const arrived = Promise.withResolvers<undefined>();
      let isFirst = true;
      await using server = createServer(({ url = '' }, response) => {
        void replica.request(url, credential, PREVIEW).then(({ status, text }) => {
          const body = Buffer.from(text);
          if (isFirst) FAULTS[fault](response, body.subarray(0, random.between(1, body.length - 1)));
          else response.writeHead(status).end(body);
          isFirst = false;
          arrived.resolve(undefined);
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const round = sync(`http://127.0.0.1:${port}`);
      if (fault === 'late, and the program is killed')
        void arrived.promise.then(() => delay(random.below(50))).then(() => round.child.kill('SIGKILL'));
      await round.catch((error: unknown) => error);
      server.closeAllConnections();
    }

    /** Returns the copy, and the time of its data. */
    function copy(): { readonly time: string; readonly records: Contents } {
      const database = new Database(inFolder('copy.sqlite'), { readonly: true });
      const rows = database
        .prepare<[], { collection: string; id: string; event_id: string | null; body: string }>(
          'SELECT * FROM records',
        )
        .all();
      const time = database.prepare<[], string>(selectTime).pluck().get() ?? '';
      database.close();
      const entries = rows.map((row) => entryOf(row.collection, row.id, row.event_id, row.body));
      return { time, records: new Map(entries) };
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
      for (let step = 1; step <= STEPS; step++) {
        const earlier = snapshotOf(step - 1);
        await buildStep(step, random.pick([{ base: earlier }, { base: earlier }, { previous: earlier }, {}]));
        const { time } = copy();
        // Some snapshots go live before a round, some during one, and some without a round.
        if (random.chance(0.3)) {
          await Promise.all([goLive(step), sync()]);
          expectCopyOf(copy().time);
          continue;
        }
        await goLive(step);
        if (random.chance(0.2)) continue;
        const fault = faults[faulty++ % faults.length];
        await syncWith(fault);
        expectCopyOf(fault.endsWith('killed') ? time : copy().time);
        await syncAndCompare();
      }
      await syncAndCompare();
    });

    it('leaves the copy as it was when a round fails', async () => {
      const failure = await sync(replica.origin, `${credential}x`).catch((error: unknown) => error);
      expect(failure)
        .to.include({ code: 1 })
        .and.to.have.property('stderr')
        .that.matches(/^not copied: .*403/);
      expectCopyOf();
    });

    it('follows a rollback of the service, and the snapshots after it', async () => {
      await goLive(STEPS - 3);
      await syncAndCompare();
      await buildStep(STEPS + 1, { previous: snapshotOf(STEPS - 3) });
      await goLive(STEPS + 1);
      await syncAndCompare();
    });

    it('follows a service that restarts, also on an older snapshot', async () => {
      await replica.end();
      replica = await startReplica();
      await syncAndCompare();
      await replica.end();
      await publish(STEPS - 2);
      replica = await startReplica();
      await syncAndCompare();
    });
  });
}

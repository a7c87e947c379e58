import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { type ListOperation, OPERATIONS } from '../../src/contract/operations.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { QueryMaker, type RandomQuery } from '../support/oracle/random-query.ts';
import type { Organization } from '../support/oracle/random-organization.ts';
import { buildWorld, randomOrganizations } from '../support/oracle/random-snapshot.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { byDepth } from '../support/depth.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { alteredCopy, asSnapshot, snapshotIdOf } from './altered-snapshot.ts';
import { run } from '../support/command.ts';
import { type Connection, connectionsToEach } from './connections.ts';
import { markedAs, markedImport, marksIn } from './marked-import.ts';
import { DEATH_HEADER, EACH_DEATH } from './mortal-thread.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';

const PRELOADED = new URL('mortal-thread.ts', import.meta.url).href;
const THREADS = 2;
const HEAP_MB = 96;
const SEED = 20_261_121;
const QUERIES = byDepth({ short: 50, deep: 1500 });
const LIMIT = 100;
/** Pause of each connection between two requests, in which replicas of other tests have the processor. */
const LOAD_PAUSE_MS = 2;
const PREVIEW = { 'Service-API-Version': 'preview' };

describe(`A replica with ${THREADS} workers`, () => {
  const inFolder = folderForAll();

  /** Starts a replica over its own folder, with identifiable and mortal workers. */
  async function start(name: string, environment: Readonly<Record<string, string>> = {}) {
    const inStage = (file: string) => inFolder(`${name}-${file}`);
    mkdirSync(inStage('snapshots'), { recursive: true });
    const replica = await ReplicaUnderTest.start(inStage, {
      THREADS: String(THREADS),
      NODE_OPTIONS: `--import=${PRELOADED} --max-old-space-size=${HEAP_MB}`,
      FAULT_FILE: inStage('fault'),
      ...environment,
    });
    return { replica, inStage };
  }

  async function metric(replica: ReplicaUnderTest, pattern: RegExp): Promise<number> {
    const { text } = await replica.requestAdmin('/metrics');
    return Array.from(text.matchAll(pattern), ([, value]) => Number(value)).reduce(
      (sum, value) => sum + value,
      0,
    );
  }

  describe(`answers like the oracle (seed ${SEED}):`, () => {
    const random = new Random(SEED);
    const organizations = randomOrganizations(random, 60);
    const maker = new QueryMaker(random, organizations);
    const credentials = new Map<string, string>();
    let replica: ReplicaUnderTest;
    let connections: Connection[];

    before(async () => {
      const inStage = (file: string) => inFolder(`oracle-${file}`);
      mkdirSync(inStage('snapshots'));
      await buildWorld(random, organizations, join(inStage('snapshots'), 'world.sqlite'));
      for (const { organizationId: id } of organizations) credentials.set(id, newCredential(inStage, id));
      ({ replica } = await start('oracle'));
      await replica.waitForLog({ msg: 'snapshot live' });
      connections = await connectionsToEach(replica, THREADS, 3);
    });

    after(async () => {
      for (const connection of connections) connection.close();
      await replica.end();
    });

    for (const operation of OPERATIONS.filter((one) => one.kind === 'list')) {
      it(`${operation.id}, ${QUERIES} queries over ${THREADS * 3} connections`, async () => {
        const queries = Array.from({ length: QUERIES }, () => {
          const organization = organizations[Math.min(random.below(6), random.below(4))];
          return { organization, ...maker.query(operation, organization) };
        });
        const oracles = new Map(organizations.map((one) => [one, new Oracle(one)]));
        let found = 0;
        const askInTurn = async (connection: Connection) => {
          for (let query = queries.pop(); query !== undefined; query = queries.pop()) {
            const { organization, values, parts, parentId } = query;
            if (parentId !== undefined && !isPathSegment(parentId)) continue;
            const target = targetOf(operation, parts, parentId);
            const credential = credentials.get(organization.organizationId) ?? '';
            const { status, text } = await connection.ask(target, credential, PREVIEW);
            const expected = expectedOf(oracles, query);
            const records = expected?.records ?? [];
            if (status === 200) {
              const { items, totalPages } = JSON.parse(text) as { items: unknown[]; totalPages: number };
              if (!isDeepStrictEqual(items, records)) expect(items, target).to.deep.equal(records);
              const perPage = Number(values.get('perPage') ?? 25);
              expect(totalPages, target).to.equal(Math.ceil((expected?.totalRecords ?? 0) / perPage));
              if (records.length > 0) found++;
            } else {
              expect(status, target).to.equal(expected === undefined ? 404 : 204);
              expect(records, target).to.deep.equal([]);
            }
          }
        };
        const expectedOf = (
          of: ReadonlyMap<Organization, Oracle>,
          { organization, values, parentId }: (typeof queries)[number],
        ) => of.get(organization)?.page(operation.id, values, parentId, Date.now());
        await Promise.all(connections.map(askInTurn));
        expect(found, 'queries with a non-empty result').to.be.greaterThan(QUERIES / 4);
      });
    }
  });

  describe('during swaps', () => {
    const SWAPS = byDepth({ short: 5, deep: 25 });
    const VARIANTS = 3;
    let replica: ReplicaUnderTest;
    let inStage: (file: string) => string;
    let credential: string;
    let connections: Connection[];
    let next = 1;

    before(async () => {
      ({ replica, inStage } = await start('swaps'));
      for (let variant = 0; variant < VARIANTS; variant++) {
        writeImport(inStage(`import-${variant}`), markedImport(['north'], variant));
        await build(inStage(`import-${variant}`), inStage(`variant-${variant}`));
      }
      credential = newCredential(inStage, 'north');
      await replica.waitForLog({ msg: 'keys live' });
      await publish();
      connections = await connectionsToEach(replica, THREADS, 2);
    });

    after(async () => {
      for (const connection of connections) connection.close();
      await replica.end();
    });

    async function publish(): Promise<void> {
      const n = next++;
      const draft = alteredCopy(
        inStage(`variant-${n % VARIANTS}`),
        inStage(`draft-${n}`),
        asSnapshot(n),
        markedAs(n),
      );
      renameSync(draft, join(inStage('snapshots'), 'north.sqlite'));
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });
    }

    /** Repeats `work` during `SWAPS` swaps. Returns the number of repetitions. */
    async function whileSwapping(work: (round: number) => Promise<void>): Promise<number> {
      let isDone = false;
      let rounds = 0;
      const working = async () => {
        for (; !isDone; rounds++) await work(rounds);
      };
      const swapping = async () => {
        for (let i = 0; i < SWAPS; i++) await publish();
      };
      await Promise.all([working(), swapping().finally(() => (isDone = true))]);
      return rounds;
    }

    it('never serves an older snapshot after a newer one, whichever worker answers', async () => {
      const rounds = await whileSwapping(async (round) => {
        let newest = 0;
        for (let i = 0; i < 2 * connections.length; i++) {
          const connection = connections[(round + i) % connections.length];
          const { status, text } = await connection.ask('/v1/orders?perPage=3', credential);
          expect(status).to.equal(200);
          const [mark, ...others] = new Set(marksIn(text));
          expect(others).to.deep.equal([]);
          expect(mark, 'snapshot after a newer one').to.be.at.least(newest);
          newest = mark;
        }
      });
      expect(rounds).to.be.greaterThan(SWAPS);
    });

    it('serves a walk over both workers from one snapshot, each record once', async () => {
      const walked = new Set<number>();
      await whileSwapping(async (round) => {
        const ids: string[] = [];
        const marks = new Set<number>();
        let target: string | null = '/v1/tickets?perPage=17';
        for (let i = round; target !== null; i++) {
          // The workers take turns.
          const connection = connections[i % 2 === 0 ? 0 : connections.length - 1];
          const { status, text } = await connection.ask(target, credential);
          expect(status, target).to.equal(200);
          for (const mark of marksIn(text)) marks.add(mark);
          const page = JSON.parse(text) as { items: { ticketId: string }[]; nextPage: string | null };
          ids.push(...page.items.map(({ ticketId }) => ticketId));
          target = page.nextPage;
        }
        expect([...marks], 'snapshots in a walk').to.have.length(1);
        const [mark] = marks;
        walked.add(mark);
        const { length } = markedImport(['north'], mark % VARIANTS).tickets;
        expect(new Set(ids).size).to.equal(length);
        expect(ids).to.have.length(length);
      });
      expect(walked.size, 'walked snapshots').to.be.greaterThan(SWAPS / 2);
    });
  });

  describe('replaces a worker that', () => {
    let replica: ReplicaUnderTest;
    let inStage: (file: string) => string;
    let credential: string;
    let connections: Connection[];

    before(async () => {
      ({ replica, inStage } = await start('deaths'));
      writeImport(inStage('import'), markedImport(['north'], 0));
      await build(inStage('import'), join(inStage('snapshots'), 'north.sqlite'));
      credential = newCredential(inStage, 'north');
      await replica.waitForLog({ msg: 'keys live' });
      await replica.waitForLog({ msg: 'snapshot live' });
    });

    beforeEach(async () => {
      connections = await connectionsToEach(replica, THREADS, 3);
    });

    afterEach(() => {
      for (const connection of connections) connection.close();
    });

    after(() => replica.end());

    /** Ends the worker of the first connection. */
    async function endOne(death: string): Promise<void> {
      await connections[0].ask('/v1/events', credential, { [DEATH_HEADER]: death }).catch(() => undefined);
    }

    const counted = () => metric(replica, /^foyer_requests_total\{.*\} (\d+)$/gm);

    for (const death of EACH_DEATH) {
      it(`${death}, while the other serves on, and loses no count`, async () => {
        const seen = replica.log.length;
        const others = connections.filter(({ thread }) => thread !== connections[0].thread);
        expect(others).to.have.length(3);
        const before = await counted();
        const replaced = await metric(replica, /^foyer_threads_replaced_total (\d+)$/gm);
        let isDone = false;
        let answered = 0;
        const load = others.map(async (connection) => {
          const { thread } = connection;
          while (!isDone) {
            const { status } = await connection.ask('/v1/tickets?perPage=20', credential);
            expect(status).to.equal(200);
            expect(connection.thread).to.equal(thread);
            answered++;
            await delay(LOAD_PAUSE_MS);
          }
        });
        await endOne(death);
        const line = await replica.waitForLog({ msg: 'a worker ended and is replaced' }, seen);
        expect(line['reason']).to.be.a('string').and.not.to.equal('');
        expect((await replica.requestAdmin('/readyz')).status, 'while it is replaced').to.equal(200);
        await replica.waitForLog({ msg: 'the new worker listens' }, seen);
        isDone = true;
        await Promise.all(load);
        expect(answered).to.be.greaterThan(0);
        expect(await metric(replica, /^foyer_threads (\d+)$/gm)).to.equal(THREADS);
        expect(await metric(replica, /^foyer_threads_replaced_total (\d+)$/gm)).to.equal(replaced + 1);
        expect(await counted()).to.be.at.least(before + answered);

        const now = await connectionsToEach(replica, THREADS, 1);
        const replacement = now.find(({ thread }) => connections.every((one) => one.thread !== thread));
        const { status, text } = (await replacement?.ask('/v1/tickets?perPage=5', credential)) ?? {};
        expect(status).to.equal(200);
        expect(marksIn(text ?? '')).to.have.length(5);
        for (const connection of now) connection.close();
      });
    }

    it('fails at startup repeatedly, after growing pauses', async () => {
      const seen = replica.log.length;
      writeFileSync(inStage('fault'), '');
      await endOne('exits');
      const isOver = () => replica.linesOf({ msg: 'a worker ended and is replaced' }, seen).length >= 4;
      while (!isOver()) {
        const { status } = await connections[5].ask('/v1/events', credential);
        expect(status).to.equal(200);
        await delay(5);
      }
      expect((await replica.requestAdmin('/readyz')).status).to.equal(200);
      rmSync(inStage('fault'));
      await replica.waitForLog({ msg: 'the new worker listens' }, seen);
      const lines = replica.linesOf({ msg: 'a worker ended and is replaced' }, seen);
      const pauses = lines.map(({ pauseMs }) => Number(pauseMs));
      expect(pauses).to.deep.equal(pauses.toSorted((a, b) => a - b));
      expect(pauses.at(-1)).to.be.greaterThan(100);
      expect(String(lines.at(-1)?.['reason'])).to.match(/a fault at startup/);
    });
  });

  it('counts the requests of a key exactly, over all workers and beyond the end of a worker', async () => {
    const stage = (file: string) => inFolder(`limit-${file}`);
    mkdirSync(stage('snapshots'));
    writeImport(stage('import'), markedImport(['north'], 0));
    await build(stage('import'), join(stage('snapshots'), 'north.sqlite'));
    const [credential, other] = [newCredential(stage, 'north'), newCredential(stage, 'north')];
    const { replica } = await start('limit', { RATE_LIMIT_PER_MINUTE: String(LIMIT) });
    const connections: Connection[] = [];
    try {
      await replica.waitForLog({ msg: 'keys live' });
      await replica.waitForLog({ msg: 'snapshot live' });
      connections.push(...(await connectionsToEach(replica, THREADS, 3)));
      const left: number[] = [];
      let refused = 0;
      await Promise.all(
        connections.map(async (connection) => {
          for (let i = 0; i < LIMIT / 2; i++) {
            const { status, headers } = await connection.ask('/v1/events/evt_1', credential);
            if (status === 200) left.push(Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1]));
            else refused++;
          }
        }),
      );
      expect(left.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: LIMIT }, (_, i) => i));
      expect(refused).to.equal((connections.length * LIMIT) / 2 - LIMIT);

      await connections[0].ask('/healthz', '', { [DEATH_HEADER]: 'exits' }).catch(() => undefined);
      await replica.waitForLog({ msg: 'the new worker listens' });
      for (const connection of await connectionsToEach(replica, THREADS, 1)) {
        connections.push(connection);
        expect((await connection.ask('/v1/events/evt_1', credential)).status).to.equal(429);
        expect((await connection.ask('/v1/events/evt_1', other)).status).to.equal(200);
      }
    } finally {
      for (const connection of connections) connection.close();
      await replica.end();
    }
  });

  it('keeps its port: another process reports that it is in use', async () => {
    const { replica } = await start('port');
    try {
      for (const threads of ['1', '2']) {
        const { code, stderr } = await run('src/main.ts', [], {
          PORT: String(replica.port),
          HOST: '127.0.0.1',
          ADMIN_PORT: '0',
          THREADS: threads,
        });
        expect(code).to.equal(1);
        expect(stderr).to.match(/^port \d+ is in use/);
      }
    } finally {
      await replica.end();
    }
  });
});

/** Returns whether a text can be a path segment that URL parsers leave unchanged. */
function isPathSegment(text: string): boolean {
  return text.isWellFormed() && !['', '.', '..'].includes(text);
}

function targetOf(operation: ListOperation, parts: RandomQuery['parts'], parentId = ''): string {
  const path = operation.path.replace(/\{\w+\}/, encodeURIComponent(parentId));
  const query = parts.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&');
  return query === '' ? path : `${path}?${query}`;
}

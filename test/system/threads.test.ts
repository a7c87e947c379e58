import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { type Environment, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { EACH_DEATH } from '../support/mortal-thread.ts';

const THREADS = 2;
const HEAP_MB = 96;
const LIMIT = 100;
/** Pause of each connection between two requests, in which replicas of other tests have the processor. */
const LOAD_PAUSE_MS = 2;
const ENDED = { msg: 'a worker ended and is replaced' };

describe(`A replica with ${THREADS} workers`, () => {
  const inFolder = folderForAll();
  let credential: string;
  let other: string;
  let replica: ReplicaUnderTest;
  let connections: Connection[];

  before(async () => {
    (await MarkedSnapshots.build(inFolder)).place(1);
    credential = newCredential(inFolder, 'north');
    other = newCredential(inFolder, 'north');
  });

  async function start(environment: Environment = {}): Promise<void> {
    replica = await ReplicaUnderTest.startReady(inFolder, {
      THREADS: String(THREADS),
      NODE_OPTIONS: `${MORTAL} --max-old-space-size=${HEAP_MB}`,
      FAULT_FILE: inFolder('fault'),
      ...environment,
    });
  }

  async function connect(): Promise<void> {
    connections = await connectionsToEach(replica, THREADS, 3);
  }

  function close(): void {
    for (const connection of connections) connection.close();
  }

  describe('replaces a worker that', () => {
    before(() => start());
    beforeEach(connect);
    afterEach(close);
    after(() => replica.end());

    for (const death of EACH_DEATH) {
      it(`${death}, while the other serves on, and loses no count`, async () => {
        const seen = replica.log.length;
        const others = connections.filter(({ thread }) => thread !== connections[0].thread);
        expect(others).to.have.length(3);
        const before = await replica.metric('foyer_requests_total');
        const replaced = await replica.metric('foyer_threads_replaced_total');
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
        await connections[0].kill(death);
        const line = await replica.waitForLog(ENDED, seen);
        expect(line['reason']).to.be.a('string').and.not.to.equal('');
        expect((await replica.requestAdmin('/readyz')).status, 'while it is replaced').to.equal(200);
        await replica.waitForLog({ msg: 'the new worker listens' }, seen);
        isDone = true;
        await Promise.all(load);
        expect(answered).to.be.greaterThan(0);
        expect(await replica.metric('foyer_threads')).to.equal(THREADS);
        expect(await replica.metric('foyer_threads_replaced_total')).to.equal(replaced + 1);
        expect(await replica.metric('foyer_requests_total')).to.be.at.least(before + answered);

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
      writeFileSync(inFolder('fault'), '');
      await connections[0].kill();
      while (replica.linesOf(ENDED, seen).length < 4) {
        const { status } = await connections[5].ask('/v1/events', credential);
        expect(status).to.equal(200);
        await delay(5);
      }
      expect((await replica.requestAdmin('/readyz')).status).to.equal(200);
      rmSync(inFolder('fault'));
      await replica.waitForLog({ msg: 'the new worker listens' }, seen);
      const lines = replica.linesOf(ENDED, seen);
      const pauses = lines.map(({ pauseMs }) => Number(pauseMs));
      expect(pauses).to.deep.equal(pauses.toSorted((a, b) => a - b));
      expect(pauses.at(-1)).to.be.greaterThan(100);
      expect(String(lines.at(-1)?.['reason'])).to.match(/a fault at startup/);
    });
  });

  it('counts the requests of a key exactly, over all workers and beyond the end of a worker', async () => {
    await start({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
    try {
      await connect();
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

      await connections[0].kill();
      await replica.waitForLog({ msg: 'the new worker listens' });
      close();
      await connect();
      for (const connection of connections) {
        expect((await connection.ask('/v1/events/evt_1', credential)).status).to.equal(429);
        expect((await connection.ask('/v1/events/evt_1', other)).status).to.equal(200);
      }
    } finally {
      close();
      await replica.end();
    }
  });
});

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile, type NewKey } from '../../src/keys/keys-file.ts';
import type { Command as WorkerCommand } from '../../src/workers/protocol.ts';
import { run } from '../support/command.ts';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { markedReplicaForEach, numberOf } from '../support/marked-replica.ts';
import { EACH_DEATH, STEP } from '../support/mortal-thread.ts';
import { times } from '../support/records.ts';
import { environmentIn, newCredential } from '../support/replica-under-test.ts';

const THREADS = 2;
const CONNECTIONS_TO_EACH = 3;
const HEAP_MB = 96;
const LIMIT = 100;
/** Pause of each connection between two requests, in which replicas of other tests have the processor. */
const LOAD_PAUSE_MS = 2;
const PAGE = '/v1/tickets?perPage=20';
const ENDED = { msg: 'a worker ended and is replaced' };

describe(`A replica with ${THREADS} workers`, () => {
  const replica = markedReplicaForEach();
  const { inFolder } = replica;
  let connections: readonly Connection[] = [];

  afterEach(close);

  const environment = () => ({
    THREADS: String(THREADS),
    NODE_OPTIONS: `${MORTAL} --max-old-space-size=${HEAP_MB}`,
    FAULT_FILE: inFolder('fault'),
    SHUTDOWN_GRACE_SECONDS: '1',
  });

  async function start(further = {}): Promise<void> {
    await replica.start({ ...environment(), ...further });
    await connect();
  }

  async function connect(): Promise<void> {
    close();
    connections = await connectionsToEach(replica.process, THREADS, CONNECTIONS_TO_EACH);
  }

  function close(): void {
    for (const connection of connections) connection.close();
  }

  /** Makes the next worker that receives a command end. */
  function endAt(step: WorkerCommand['name']): void {
    writeFileSync(inFolder('draft-step'), step);
    renameSync(inFolder('draft-step'), inFolder('fault') + STEP);
  }

  /** Sends requests over all connections while `work` lasts, or until they fail. All responses succeed. */
  async function underLoad(work: Promise<unknown>) {
    const failedThreads = new Set<string>();
    /** The thread of each answer. */
    const answered: string[] = [];
    let isDone = false;
    const load = connections.map(async (connection) => {
      while (!isDone) {
        const { thread } = connection;
        const answer = await connection.ask(PAGE, replica.credential).catch(() => undefined);
        if (answer === undefined) {
          failedThreads.add(thread);
          break;
        }
        numberOf(answer);
        answered.push(connection.thread);
        await delay(LOAD_PAUSE_MS);
      }
    });
    await Promise.all([work.finally(() => (isDone = true)), ...load]);
    expect(answered).not.to.be.empty;
    return { answered, failedThreads };
  }

  /**
   * Ends workers under load, and expects `count` replaced ones. Only requests to one of them fail, no count is lost, and
   * each worker then serves the latest snapshot.
   */
  async function expectReplaced(count: number, endWorker: () => Promise<unknown>): Promise<void> {
    const { process } = replica;
    const seen = process.log.length;
    const counted = await process.metric('foyer_requests_total');
    const replaced = await process.metric('foyer_threads_replaced_total');
    const replacing = async () => {
      await endWorker();
      await process.waitForLog(ENDED, seen);
      expect((await process.requestAdmin('/readyz')).status, 'while it is replaced').to.equal(200);
      await process.waitForLog({ msg: 'the new worker listens' }, seen);
    };
    const { answered, failedThreads } = await underLoad(replacing());
    expectStepTaken();
    const ended = process.linesOf(ENDED, seen);
    expect(ended, JSON.stringify(ended)).to.have.length(count);
    for (const { reason } of ended) expect(reason).to.be.a('string').and.not.to.equal('');
    expect(failedThreads.size, 'workers with failed requests').to.be.at.most(1);
    expect(await process.metric('foyer_threads')).to.equal(THREADS);
    expect(await process.metric('foyer_threads_replaced_total')).to.equal(replaced + count);
    await connect();
    for (const connection of connections)
      expect(numberOf(await connection.ask(PAGE, replica.credential))).to.equal(replica.latest);
    // The last responses of a worker that ends may not be counted.
    const served = answered.filter((thread) =>
      connections.some((connection) => connection.thread === thread),
    );
    expect(await process.metric('foyer_requests_total')).to.be.at.least(counted + served.length);
  }

  function expectStepTaken(): void {
    expect(existsSync(inFolder('fault') + STEP), 'the step is still ahead').to.equal(false);
  }

  describe('replaces one that', () => {
    beforeEach(() => start());

    for (const death of EACH_DEATH) {
      it(`${death}, while the other serves on`, () => expectReplaced(1, () => connections[0].kill(death)));
    }

    for (const step of [
      'add-images',
      'prepare-view',
      'drop-earlier-view',
    ] as const satisfies WorkerCommand['name'][]) {
      it(`ends when it receives ${step} in a swap, which succeeds`, () =>
        expectReplaced(1, () => {
          endAt(step);
          return replica.publish();
        }));
    }

    for (const step of [
      'add-images',
      'prepare-view',
      'replace-keys',
      'listen',
    ] as const satisfies WorkerCommand['name'][]) {
      it(`ends when it receives ${step} as a replacement`, () =>
        expectReplaced(2, () => {
          endAt(step);
          return connections[0].kill();
        }));
    }

    it('ends when it receives replace-keys; a new key and a revocation are in force in each worker', async () => {
      const keys = new KeysFile(inFolder('keys.sqlite'));
      let key: NewKey | undefined;
      for (const [validKeys, status, change] of [
        [2, 200, () => (key = keys.create('north', '', new Date()))],
        [1, 403, () => keys.revoke(key?.keyId ?? '', new Date())],
      ] as const) {
        await expectReplaced(1, () => {
          endAt('replace-keys');
          change();
          return replica.process.waitForLog({ msg: 'keys live', validKeys }, replica.process.log.length);
        });
        for (const connection of connections)
          expect((await connection.ask(PAGE, formatCredential(key ?? expect.fail()))).status).to.equal(
            status,
          );
      }
    });

    it('fails at startup repeatedly, with a pause before the next one', async () => {
      writeFileSync(inFolder('fault'), '');
      await expectReplaced(3, async () => {
        await connections[0].kill();
        while (replica.process.linesOf(ENDED).length < 3) await delay(5);
        rmSync(inFolder('fault'));
      });
      const lines = replica.process.linesOf(ENDED);
      expect(lines.map(({ pauseMs }) => pauseMs)).to.deep.equal([0, 1000, 1000]);
      expect(String(lines.at(-1)?.['reason'])).to.match(/a fault at startup/);
    });
  });

  it('stops in order, and answers requests until then, although one ends when it receives drain', async () => {
    await start();
    endAt('drain');
    replica.process.signal('SIGTERM');
    await underLoad(replica.process.ended);
    expect(await replica.process.ended).to.include({ code: 0, signal: null, stderr: '' });
    expectStepTaken();
  });

  for (const moment of ['startup', 'listen'] as const) {
    it(`does not start when one ends at ${moment}, and reports the reason`, async () => {
      if (moment === 'listen') endAt(moment);
      else writeFileSync(inFolder('fault'), '');
      const { code, stderr } = await run('src/main.ts', [], { ...environmentIn(inFolder), ...environment() });
      expect(stderr).to.include(`Error: a worker ended before it listened: Error: a fault at ${moment}\n`);
      expect(code).to.equal(1);
    });
  }

  it('counts the requests of a key exactly, over all workers and beyond the end of one', async () => {
    const other = newCredential(inFolder, 'north');
    await start({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
    const askLimited = (connection: Connection, credential: string) =>
      connection.ask('/v1/events/evt_1', credential);
    const left: number[] = [];
    const spend = async (connection: Connection) => {
      for (let i = 0; i < LIMIT / 2; i++) {
        const { status, headers } = await askLimited(connection, replica.credential);
        if (status === 200) left.push(Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1]));
      }
    };
    await Promise.all(connections.map(spend));
    expect(left.toSorted((a, b) => a - b)).to.deep.equal(times(LIMIT, Number));

    await connections[0].kill();
    await replica.process.waitForLog({ msg: 'the new worker listens' });
    await connect();
    for (const connection of connections) {
      expect((await askLimited(connection, replica.credential)).status).to.equal(429);
      expect((await askLimited(connection, other)).status).to.equal(200);
    }
  });
});

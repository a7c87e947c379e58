import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { snapshotIdOf } from '../support/altered-snapshot.ts';
import { Command } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { times } from '../support/records.ts';
import {
  type Answer,
  type Environment,
  environmentIn,
  newCredential,
  ReplicaUnderTest,
} from '../support/replica-under-test.ts';
import { folderForAll, folderForEach } from '../support/temporary-folder.ts';
import { type Fault, FAULTY_LOADER, RESUME, WAITING } from './faulty-loader.ts';

const SEED = 20_261_122;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const;
/** Starts that receive a signal, at moments from its beginning to some time after it listens. */
const MOMENTS = byDepth({ short: 9, deep: 90 });
const MOMENTS_AT_ONCE = 4;
const PAST_START = 1.3;
/** Time in which the process is stopped, below Node's timeout of idle connections. */
const STOPPED_MS = byDepth({ short: 1500, deep: 4000 });

describe('A process', () => {
  const inSource = folderForAll();
  const inFolder = folderForEach();
  let snapshots: MarkedSnapshots;
  let credential: string;
  let replica: ReplicaUnderTest | undefined;

  before(async () => {
    snapshots = await MarkedSnapshots.build(inSource);
  });

  beforeEach(() => {
    snapshots.place(1, inFolder);
    credential = newCredential(inFolder, 'north');
  });

  afterEach(() => {
    replica?.signal('SIGKILL');
  });

  async function start(environment: Environment = {}): Promise<ReplicaUnderTest> {
    return (replica = await ReplicaUnderTest.startReady(inFolder, environment));
  }

  /** Expects all tickets of one snapshot. */
  function expectServed({ status, text }: Answer, n: number): void {
    expect(status).to.equal(200);
    expect(new Set(marksIn(text))).to.deep.equal(new Set([n]));
  }

  it(`that receives a signal at ${MOMENTS} moments of its start ends in order, and leaves its files unchanged (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const began = performance.now();
    const first = await start({ THREADS: '2' });
    const startMs = performance.now() - began;
    first.signal('SIGKILL');
    await first.ended;
    const names = ['keys.sqlite', 'snapshots/north.sqlite'];
    const before = names.map((name) => readFileSync(inFolder(name)).toString('latin1'));

    const attacks = times(MOMENTS, (i) => ({
      signal: SIGNALS[i % SIGNALS.length],
      moment: ((i + random.fraction()) / MOMENTS) * PAST_START * startMs,
    }));
    const attack = async () => {
      for (let next = attacks.pop(); next !== undefined; next = attacks.pop()) {
        const { signal, moment } = next;
        const command = new Command('src/main.ts', [], { ...environmentIn(inFolder), THREADS: '2' });
        await delay(moment);
        command.kill(signal);
        const { code, signal: by, stdout, stderr } = await command.ended;
        const what = `${signal} after ${moment} ms`;
        expect(stderr, what).to.equal('');
        // Until Node has loaded the first modules of the program, a signal ends the process.
        if (by === null) expect([code, stdout.includes('"msg":"stopped"')], what).to.deep.equal([0, true]);
        else expect([by, signal === 'SIGKILL' || stdout === ''], what).to.deep.equal([signal, true]);
      }
    };
    await Promise.all(times(MOMENTS_AT_ONCE, attack));
    expect(names.map((name) => readFileSync(inFolder(name)).toString('latin1'))).to.deep.equal(before);
    expect(readdirSync(inFolder('snapshots'))).to.deep.equal(['north.sqlite']);

    const last = await start();
    expectServed(await last.request('/v1/tickets?perPage=50', credential), 1);
  });

  describe('during a load', () => {
    /** Starts a replica, and a load that waits before it reads the tickets. */
    async function startLoad(): Promise<ReplicaUnderTest> {
      const started = await start({
        NODE_OPTIONS: FAULTY_LOADER,
        FAULT_FILE: inFolder('fault'),
        SHUTDOWN_GRACE_SECONDS: '2',
      });
      writeFileSync(inFolder('fault'), 'waits before it reads tickets' satisfies Fault);
      snapshots.place(2, inFolder);
      while (!existsSync(inFolder('fault') + WAITING)) await delay(2);
      return started;
    }

    it('answers requests, ends in order on SIGTERM, and loads the snapshot after its next start', async () => {
      const loading = await startLoad();
      expectServed(await loading.request('/v1/tickets', credential), 1);
      loading.signal('SIGTERM');
      await loading.waitForLog({ msg: 'stopping' });
      expectServed(await loading.request('/v1/tickets', credential), 1);
      expect(await loading.ended).to.include({ code: 0, signal: null, stderr: '' });
      expectServed(await (await start()).request('/v1/tickets', credential), 2);
    });

    it('loads the snapshot after its next start when it receives SIGKILL', async () => {
      const loading = await startLoad();
      loading.signal('SIGKILL');
      expect(await loading.ended).to.include({ signal: 'SIGKILL', stderr: '' });
      expectServed(await (await start()).request('/v1/tickets', credential), 2);
    });

    it('swaps when the load continues after a stop of the process', async () => {
      const loading = await startLoad();
      loading.signal('SIGSTOP');
      writeFileSync(inFolder('fault') + RESUME, '');
      await delay(STOPPED_MS / 4);
      loading.signal('SIGCONT');
      await loading.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
      expectServed(await loading.request('/v1/tickets', credential), 2);
    });
  });

  it(`that is stopped for ${STOPPED_MS} ms and continued answers every request of that time`, async () => {
    // An empty variable has its default, so the check of overload is enabled.
    const stopped = await start({ THREADS: '2', OVERLOAD_DELAY_MS: '' });
    const connections = times(6, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const ask = (agent?: Agent) => stopped.request('/v1/tickets?perPage=50', credential, {}, agent);
    const { text } = await ask();
    const { nextPage } = JSON.parse(text) as { nextPage: string };
    await Promise.all(connections.map(ask));
    expect((await stopped.requestAdmin('/readyz')).status).to.equal(200);

    stopped.signal('SIGSTOP');
    const early = connections.slice(0, 3).map(ask);
    const onNewConnections = times(3, () => ask(new Agent()));
    snapshots.place(2, inFolder);
    await delay(STOPPED_MS);
    const late = connections.slice(3).map(ask);
    const readiness = stopped.requestAdmin('/readyz');
    stopped.signal('SIGCONT');

    for (const answer of await Promise.all([...early, ...onNewConnections, ...late])) {
      const [mark] = marksIn(answer.text);
      expect([1, 2]).to.include(mark);
      expectServed(answer, mark);
    }
    expect((await readiness).status).to.equal(200);
    await stopped.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
    expectServed(await ask(), 2);
    expectServed(await stopped.request(nextPage, credential), 1);
    for (const agent of connections) agent.destroy();
  });
});

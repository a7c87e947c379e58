import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { snapshotIdOf } from '../support/altered-snapshot.ts';
import { Command } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { markedReplicaForEach, numberOf } from '../support/marked-replica.ts';
import { times } from '../support/records.ts';
import { environmentIn } from '../support/replica-under-test.ts';
import { LoaderFaults } from './faulty-loader.ts';

const SEED = 20_261_122;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const;
/** Starts that receive a signal, at moments from its beginning to some time after it listens. */
const MOMENTS = byDepth({ short: 9, deep: 90 });
const MOMENTS_AT_ONCE = 4;
const PAST_START = 1.3;
const PAGE = '/v1/tickets?perPage=20';
/** Time in which the process is stopped, below Node's timeout of idle connections. */
const STOPPED_MS = byDepth({ short: 1500, deep: 4000 });

describe('A process', () => {
  const replica = markedReplicaForEach();
  const { inFolder } = replica;

  it(`that receives a signal at ${MOMENTS} moments of its start ends in order, and leaves its files unchanged (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const began = performance.now();
    await replica.start({ THREADS: '2' });
    const startMs = performance.now() - began;
    await replica.end();
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

    await replica.start();
    expect(numberOf(await replica.ask(PAGE))).to.equal(1);
  });

  it('answers requests during a load, ends in order on SIGTERM, and loads the snapshot after its next start', async () => {
    const faults = new LoaderFaults(inFolder);
    const process = await replica.start({ ...faults.environment, SHUTDOWN_DELAY_SECONDS: '1' });
    faults.set('waits before it reads tickets');
    replica.place();
    await faults.waiting();
    process.signal('SIGTERM');
    await process.waitForLog({ msg: 'stopping' });
    expect(numberOf(await replica.ask(PAGE))).to.equal(1);
    expect(await process.ended).to.include({ code: 0, signal: null, stderr: '' });
    await replica.start();
    expect(numberOf(await replica.ask(PAGE))).to.equal(2);
  });

  it(`that is stopped for ${STOPPED_MS} ms and continued answers every request of that time`, async () => {
    // An empty variable has its default, so the check of overload is enabled.
    const process = await replica.start({ THREADS: '2', OVERLOAD_DELAY_MS: '' });
    const connections = times(6, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const ask = (agent?: Agent) => replica.ask(PAGE, replica.credential, agent);
    const { nextPage } = JSON.parse((await ask()).text) as { nextPage: string };
    await Promise.all(connections.map(ask));

    process.signal('SIGSTOP');
    const early = connections.slice(0, 3).map(ask);
    const onNewConnections = times(3, () => ask(new Agent()));
    replica.place();
    await delay(STOPPED_MS);
    const late = connections.slice(3).map(ask);
    const readiness = process.requestAdmin('/readyz');
    process.signal('SIGCONT');

    for (const answer of await Promise.all([...early, ...onNewConnections, ...late]))
      expect(numberOf(answer)).to.be.oneOf([1, 2]);
    expect((await readiness).status).to.equal(200);
    await process.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
    expect(numberOf(await ask())).to.equal(2);
    expect(numberOf(await replica.ask(nextPage))).to.equal(1);
    for (const agent of connections) agent.destroy();
  });
});

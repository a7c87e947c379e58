import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { MAX_ADMIN_CONNECTIONS } from '../../src/open-files.ts';
import { eventually } from '../support/eventually.ts';
import { build } from '../support/import-folder.ts';
import {
  type Environment,
  newCredential,
  placeSample,
  ReplicaUnderTest,
  SAMPLE_ORGANIZATION,
} from '../support/replica-under-test.ts';
import { times } from '../support/records.ts';
import { folderForEach } from '../support/temporary-folder.ts';
import { connectionsToEach, MORTAL } from '../support/connections.ts';
import type { FloodInput } from '../support/flood.ts';

/** A response under attack takes milliseconds. Without a defense, responses stop for many seconds. */
const STANDSTILL_MS = 3000;
/** Without a defense, the memory grows by gigabytes. */
const MAX_GROWTH_MB = 250;
/** Growth of the resident memory by a second attack. */
const MAX_REST = 1.15;
/** Longest time until unused memory is back at the system. */
const REST_MS = 20_000;
/** Makes each thread collect garbage, which V8 would leave until it needs the memory. */
const COLLECT_MS = 1000;
const COLLECTING = {
  NODE_OPTIONS: `--expose-gc --import=data:text/javascript,setInterval(gc,${COLLECT_MS}).unref()`,
};
const MAX_PIPELINED = 32;
/** Pause between two requests of a metric, which leaves processor time for the attack. */
const LOOK_MS = 20;

/** Attacks on a real process. The figures are in docs/reliability.md. */
describe('A replica under attack', () => {
  const inFolder = folderForEach();
  const sockets = new Set<Socket>();
  const threads = new Set<Worker>();
  let replica: ReplicaUnderTest | undefined;
  let credential: string;

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    for (const thread of threads) await thread.terminate();
    threads.clear();
    replica?.signal('SIGKILL');
    await replica?.ended;
  });

  async function start(environment: Environment = {}, openFiles?: number): Promise<ReplicaUnderTest> {
    credential = await placeSample(inFolder);
    return (replica = await ReplicaUnderTest.startReady(inFolder, environment, { openFiles }));
  }

  function open(port: number): Socket {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }

  /** Starts a thread that floods. */
  function floodFrom(workerData: FloodInput): Worker {
    const thread = new Worker(new URL('../support/flood.ts', import.meta.url), { workerData });
    threads.add(thread);
    return thread;
  }

  const countFloods = (from: ReplicaUnderTest) =>
    from.metric('foyer_connections_ended_total{reason="pipelining"}');
  const residentMb = async (from: ReplicaUnderTest) =>
    (await from.metric('process_resident_memory_bytes')) / 2 ** 20;

  /** Sends requests of a valid key one at a time. Expects each response in time. */
  async function askFor(milliseconds: number, from: ReplicaUnderTest): Promise<void> {
    const end = performance.now() + milliseconds;
    for (let began = 0; began < end;) {
      began = performance.now();
      expect(await from.request('/v1/events?perPage=1', credential)).to.include({ status: 200 });
      expect(performance.now() - began).to.be.below(STANDSTILL_MS);
    }
  }

  /** Begins an attack. Another key has responses meanwhile, and the memory grows little. */
  async function expectAnswersDuring<Attack>(from: ReplicaUnderTest, begin: () => Attack): Promise<Attack> {
    const before = await residentMb(from);
    const attack = begin();
    await askFor(1500, from);
    expect((await residentMb(from)) - before).to.be.below(MAX_GROWTH_MB);
    return attack;
  }

  /**
   * Starts a replica, and attacks it twice. Each attack leaves no connection and no unsent byte, and the second leaves the
   * memory as it finds it: the first makes code and heaps grow to their usual size.
   */
  async function attackTwice(
    attack: (from: ReplicaUnderTest, otherKey: string) => Promise<void>,
  ): Promise<void> {
    const from = await start(COLLECTING);
    const otherKey = newCredential(inFolder, SAMPLE_ORGANIZATION);
    await from.waitForLog({ msg: 'keys live', validKeys: 2 });
    await askFor(500, from);
    const resident = [await residentMb(from)];
    for (let i = 0; i < 2; i++) {
      await attack(from, otherKey);
      for (const socket of sockets) socket.destroy();
      // One is that of the valid key.
      await eventually(async () => (await from.metric('foyer_connections_open')) <= 1, LOOK_MS);
      await from.waitForMetric('foyer_unsent_bytes', 0);
      await delay(3 * COLLECT_MS);
      resident.push(await residentMb(from));
    }
    const most = Math.max(...resident.slice(0, 2)) * MAX_REST;
    const end = performance.now() + REST_MS;
    while ((await residentMb(from)) > most && performance.now() < end) await delay(COLLECT_MS);
    expect(await residentMb(from)).to.be.at.most(most);
  }

  it('answers another key during 16 connections that pipeline requests without a key', () =>
    attackTwice(async (from) => {
      const before = await countFloods(from);
      const input: FloodInput = { port: from.port, connections: 16 };
      const flood = await expectAnswersDuring(from, () => floodFrom(input));
      const floods = (await countFloods(from)) - before;
      expect(floods).to.be.above(0);
      const stopped = once(flood, 'message');
      flood.postMessage('stop');
      const [responses] = (await stopped) as [number];
      await flood.terminate();
      // Each connection has one request before its flood.
      expect(responses).to.be.at.most((floods + 2) * (MAX_PIPELINED + 1) + 16);
    }));

  for (const [kind, connections, target, hasKey] of [
    ['200 connections do not read the documentation', 200, '/docs/swagger-ui-bundle.js', false],
    ['100 connections of a key do not read 3,000 pages', 100, '/v1/tickets?perPage=100', true],
  ] as const) {
    it(`answers another key while ${kind}`, () =>
      attackTwice(async (from, otherKey) => {
        const head = `Host: a\r\n${hasKey ? `Authorization: Bearer ${otherKey}\r\n` : ''}`;
        const requests = `GET ${target} HTTP/1.1\r\n${head}\r\n`.repeat(30);
        await expectAnswersDuring(from, () => {
          times(connections, () => open(from.port).pause().write(requests));
        });
        for (const socket of sockets) expect(socket.destroyed).to.equal(false);
        // The documentation lies in memory once for all of them.
        if (!hasKey) expect(await from.metric('foyer_unsent_bytes')).to.be.below(2 ** 20);
      }));
  }

  it('stops in order during a flood', async () => {
    const replica = await start({ SHUTDOWN_GRACE_SECONDS: '3' });
    floodFrom({ port: replica.port, connections: 50 });
    await eventually(async () => (await countFloods(replica)) > 2, LOOK_MS);
    const signalled = performance.now();
    replica.signal('SIGTERM');
    expect(await replica.ended).to.include({ code: 0 });
    expect(performance.now() - signalled).to.be.below(3 * STANDSTILL_MS);
  });

  it('answers operators although silent connections occupy the admin port', async () => {
    const replica = await start();
    for (let i = 0; i < 2 * MAX_ADMIN_CONNECTIONS; i++) open(replica.adminPort);
    await eventually(async () => {
      const answer = await replica.requestAdmin('/livez').catch(() => undefined);
      return answer?.status === 200;
    });
  });

  it('keeps the limit of connections over all threads, also when one ends', async () => {
    const replica = await start({
      THREADS: '2',
      MAX_CONNECTIONS: '40',
      NODE_OPTIONS: MORTAL,
    });
    /** Opens connections, and sends a request on each. Returns how many are answered. */
    const accepted = async (count: number) => {
      const answers = times(count, () => {
        const socket = open(replica.port);
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
        return new Promise<boolean>((resolve) => {
          socket.once('data', () => {
            resolve(true);
          });
          socket.once('close', () => {
            resolve(false);
          });
        });
      });
      return (await Promise.all(answers)).filter(Boolean).length;
    };
    expect(await accepted(30)).to.equal(30);
    // Each connection beyond the limit takes the place of an idle one.
    expect(await accepted(15)).to.equal(15);
    await replica.waitForMetric('foyer_connections_open', 40);
    for (const socket of sockets) socket.destroy();
    await replica.waitForMetric('foyer_connections_open', 0);

    const idle = await connectionsToEach(replica, 2, 3);
    await idle[0].kill();
    await replica.waitForLog({ msg: 'the new worker listens' });
    for (const connection of idle) connection.close();
    await replica.waitForMetric('foyer_connections_open', 0);
  });

  it('serves operators, keys and snapshots while connections use up the open files', async () => {
    const replica = await start({}, 96);
    const limit = await replica.metric('foyer_connections_limit');
    expect(limit).to.be.within(1, 40);
    const silent = times(80, () => open(replica.port));
    await Promise.all(
      silent.map((socket) => new Promise((resolve) => socket.on('connect', resolve).on('close', resolve))),
    );
    await replica.waitForMetric('foyer_connections_open', limit);
    for (let i = 0; i < 20; i++) expect(await replica.requestAdmin('/readyz')).to.include({ status: 200 });
    expect(await replica.request('/v1/events', credential)).to.include({ status: 200 });

    const { length } = replica.log;
    await build('data/sample', inFolder('draft'), { producedAt: new Date() });
    renameSync(inFolder('draft'), inFolder('snapshots/sample.sqlite'));
    await replica.waitForLog({ msg: 'snapshot live' }, length);

    const [{ keyId }] = new KeysFile(inFolder('keys.sqlite')).list();
    new KeysFile(inFolder('keys.sqlite')).revoke(keyId, new Date());
    await replica.waitForLog({ msg: 'keys live', validKeys: 0 });
    for (const socket of sockets) socket.destroy();
    await replica.waitForMetric('foyer_connections_open', 0);
    expect(await replica.request('/v1/events', credential)).to.include({ status: 403 });
  });

  it('loses none of 1,000 connections that arrive while it stalls', async () => {
    const replica = await start();
    replica.signal('SIGSTOP');
    const stalled = times(1000, () => open(replica.port));
    // The system completes the connections that the backlog has room for.
    await Promise.all(stalled.map((socket) => once(socket, 'connect')));
    const head = `GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${credential}\r\nConnection: close`;
    const asked = stalled.map((socket) => {
      socket.write(`${head}\r\n\r\n`);
      return text(socket);
    });
    replica.signal('SIGCONT');
    const responses = await Promise.all(asked);
    for (const response of responses) expect(response).to.match(/^HTTP\/1\.1 200 /);
  });

  it('refuses to start with too few open files', async () => {
    const failure = await ReplicaUnderTest.start(inFolder, {}, { openFiles: 40 }).catch(String);
    expect(failure).to.match(
      /the process may have 40 open files, and requires more than \d+: raise the limit/,
    );
  });
});

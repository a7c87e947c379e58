import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ROOT } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import {
  type Environment,
  environmentIn,
  placeSample,
  ReplicaUnderTest,
} from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const GRACE_SECONDS = 4;
const RUNS = byDepth({ short: 1, deep: 60 });

interface Answer {
  readonly status: number;
  readonly connection: string | undefined;
  /** Whether the request was sent after the process logged that it is stopping. */
  readonly isLate: boolean;
}

describe('The shutdown', () => {
  const inFolder = folderForAll();
  let credential: string;
  let replica: ReplicaUnderTest;

  before(async () => {
    credential = await placeSample(inFolder);
  });

  async function start(environment: Environment = {}): Promise<void> {
    const given = { SHUTDOWN_GRACE_SECONDS: String(GRACE_SECONDS), ...environment };
    replica = await ReplicaUnderTest.startReady(inFolder, given);
  }

  afterEach(() => replica.end());

  /** Requests a page of tickets. Rejects with the error of the connection, also when the page is incomplete. */
  async function ask(agent: Agent | false): Promise<Answer> {
    const isLate = replica.linesOf({ msg: 'stopping' }).length > 0;
    const { status, headers } = await replica.request('/v1/tickets?perPage=100', credential, {}, agent);
    return { status, connection: headers.connection, isLate };
  }

  /** Repeats requests until one fails. Returns the code of its error. */
  async function askUntilFailure(agent: Agent | false, answers: Answer[]): Promise<string> {
    for (;;) {
      try {
        answers.push(await ask(agent));
      } catch (error) {
        return error instanceof Error && 'code' in error ? String(error.code) : String(error);
      }
    }
  }

  it(`answers under load with Connection: close until the port is closed, ${RUNS} times`, async () => {
    for (let i = 0; i < RUNS; i++) {
      await start({ THREADS: '2', SHUTDOWN_DELAY_SECONDS: '1' });
      const agents = Array.from({ length: 3 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
      const answers: Answer[] = [];
      const failures = [...agents, ...agents, false as const, false as const].map((agent) =>
        askUntilFailure(agent, answers),
      );
      while (answers.length < 100) await ask(false);
      const signalled = performance.now();
      replica.signal('SIGTERM');
      const ended = await replica.ended;
      const took = performance.now() - signalled;

      // The system resets connections that it has completed, but the replica has not accepted.
      for (const failure of await Promise.all(failures))
        expect(failure).to.be.oneOf(['ECONNREFUSED', 'ECONNRESET']);
      expect(ended).to.include({ code: 0, signal: null, stderr: '' });
      expect(took, `run ${i}`).to.be.below(GRACE_SECONDS * 1000);
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      const late = answers.filter(({ isLate }) => isLate);
      expect(late).not.to.be.empty;
      expect(new Set(late.map(({ connection }) => connection))).to.deep.equal(new Set(['close']));
      for (const agent of agents) agent.destroy();
    }
  });

  it('ends after the delay although a connection is without a request, and without it on SIGINT', async () => {
    for (const [signal, minMs, maxMs] of [
      ['SIGTERM', 1000, 2500],
      ['SIGINT', 0, 950],
    ] as const) {
      await start({ SHUTDOWN_DELAY_SECONDS: '1', SHUTDOWN_GRACE_SECONDS: '10', THREADS: '2' });
      const silent = connect(replica.port, '127.0.0.1');
      await once(silent, 'connect');
      await replica.waitForMetric('foyer_connections_open', 1);
      const signalled = performance.now();
      replica.signal(signal);
      expect(await replica.ended).to.include({ code: 0, signal: null, stderr: '' });
      expect(performance.now() - signalled, signal).to.be.within(minMs, maxMs);
      silent.destroy();
      expect(replica.linesOf({ msg: 'stopped' })).to.have.length(1);
    }
  });

  it('is the same under npm start', async () => {
    const npm = spawn('npm', ['start'], {
      cwd: ROOT,
      env: { ...process.env, ...environmentIn(inFolder) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(npm, 'close');
    let output = '';
    for await (const chunk of npm.stdout.setEncoding('utf8')) {
      const before = output;
      output += String(chunk);
      const isListening = (text: string) => text.includes('"msg":"listening"');
      if (isListening(output) && !isListening(before)) npm.kill('SIGTERM');
    }
    expect(await ended).to.deep.equal([0, null]);
    expect(output).to.match(/"msg":"stopped"/);
  });
});

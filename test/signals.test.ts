import { expect } from 'chai';
import { pino } from 'pino';
import { stopOnSignal } from '../src/signals.ts';

const TIMES = { shutdownDelaySeconds: 3, shutdownGraceSeconds: 7 };

describe('A stop signal', () => {
  const realExit = process.exit.bind(process);
  let logged: string[];
  let exited: PromiseWithResolvers<unknown>;

  const logger = pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) });
  const log = { logger, end: () => Promise.resolve(void logged.push('end of the log')) };
  const listeners = () => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');

  /** Emits a signal to the latest listener alone, since mocha listens as well. */
  function send(signal: 'SIGTERM' | 'SIGINT'): void {
    process.listeners(signal).at(-1)?.(signal);
  }

  beforeEach(() => {
    logged = [];
    exited = Promise.withResolvers();
    process.exit = ((code: unknown) => {
      exited.resolve(code);
    }) as typeof process.exit;
  });

  afterEach(() => {
    process.exit = realExit;
  });

  it('is left to the operating system when it is the second', () => {
    const before = listeners();
    stopOnSignal(new Promise(() => undefined), TIMES, log);
    expect(listeners()).to.equal(before + 2);
    send('SIGINT');
    expect(listeners()).to.equal(before);
  });

  it('ends the process with status 1, and logs the failure, when stopping fails', async () => {
    stopOnSignal(Promise.resolve({ stop: () => Promise.reject(new Error('stuck')) }), TIMES, log);
    send('SIGTERM');
    expect(await exited.promise).to.equal(1);
    expect(logged).to.deep.equal(['stopping', 'could not stop', 'end of the log']);
  });

  it('does not end the process when the start fails, which its caller handles', async () => {
    const failed = Promise.reject(new Error('no port'));
    stopOnSignal(failed, TIMES, log);
    send('SIGTERM');
    const outcome = await Promise.race([
      exited.promise,
      new Promise((resolve) => setImmediate(resolve, 'running')),
    ]);
    expect(outcome).to.equal('running');
  });
});

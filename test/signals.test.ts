import { expect } from 'chai';
import { pino } from 'pino';
import { stopOnSignal } from '../src/signals.ts';

describe('a signal to stop', () => {
  const realExit = process.exit.bind(process);
  let logged: string[];
  let exited: PromiseWithResolvers<unknown>;

  const logger = pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) });
  const log = { logger, end: () => Promise.resolve(void logged.push('the end of the log')) };
  const listeners = () => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');

  /** As the system would, but to ours alone: the runner of the tests listens, too. */
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

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal} stops what was started, within the grace, and hurries for Ctrl-C alone`, async () => {
      const stops: unknown[] = [];
      const starting = Promise.withResolvers<{ stop: (...how: unknown[]) => Promise<void> }>();
      stopOnSignal(starting.promise, 7, log);
      send(signal);
      starting.resolve({ stop: (...how) => Promise.resolve(void stops.push(how)) });
      expect(await exited.promise).to.equal(0);
      expect(stops).to.deep.equal([[7, signal === 'SIGINT']]);
      expect(logged).to.deep.equal(['stopping', 'stopped', 'the end of the log']);
    });
  }

  it('leaves the second one to the system', () => {
    const before = listeners();
    stopOnSignal(new Promise(() => undefined), 7, log);
    expect(listeners()).to.equal(before + 2);
    send('SIGINT');
    expect(listeners()).to.equal(before);
  });

  it('ends the process with 1 when stopping fails, and says why', async () => {
    stopOnSignal(Promise.resolve({ stop: () => Promise.reject(new Error('stuck')) }), 7, log);
    send('SIGTERM');
    expect(await exited.promise).to.equal(1);
    expect(logged).to.deep.equal(['stopping', 'stopping failed', 'the end of the log']);
  });

  it('leaves a start that failed to who started', async () => {
    const failed = Promise.reject(new Error('no port'));
    stopOnSignal(failed, 7, log);
    send('SIGTERM');
    const outcome = await Promise.race([
      exited.promise,
      new Promise((resolve) => setImmediate(resolve, 'goes on')),
    ]);
    expect(outcome).to.equal('goes on');
  });
});

import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { Supervisor } from '../../src/workers/supervisor.ts';
import { SILENT } from '../support/readable-log.ts';

const UNWILLING = new URL('unwilling-worker.ts', import.meta.url);

/** The tests in test/system prove the other promises, in whole processes. */
describe('The supervisor', () => {
  const workers: Worker[] = [];

  function supervise(count: number, start: () => Worker): Supervisor {
    const started = () => {
      const worker = start();
      workers.push(worker);
      return worker;
    };
    return new Supervisor({ count, port: 0, host: '127.0.0.1', start: started, log: SILENT });
  }

  afterEach(() => Promise.all(workers.map((worker) => worker.terminate())));

  /** Returns the error with which it fails to listen. */
  async function failureOf(supervisor: Supervisor): Promise<Error> {
    try {
      await supervisor.listen(100);
    } catch (error) {
      if (error instanceof Error) return error;
    }
    throw new Error('the supervisor listens');
  }

  it('reports the system error when a worker cannot listen', async () => {
    const error = await failureOf(supervise(1, () => new Worker(UNWILLING)));
    expect(error).to.include({ message: 'listen ENOTSUP', code: 'ENOTSUP', syscall: 'listen' });
  });

  it('fails to start with the reason when a worker ends at its start', async () => {
    const dying = () => new Worker('throw new Error("a fault at the start")', { eval: true });
    const supervisor = supervise(2, dying);
    expect((await failureOf(supervisor)).message).to.match(
      /ended before it listened: [^]*a fault at the start/,
    );
    expect([supervisor.hasListened, supervisor.listening, supervisor.replaced]).to.deep.equal([false, 0, 0]);
  });
});

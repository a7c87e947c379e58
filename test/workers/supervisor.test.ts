import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { pino } from 'pino';
import { Supervisor } from '../../src/workers/supervisor.ts';

const UNWILLING = new URL('unwilling-worker.ts', import.meta.url);

/** What the processes of test/system do with threads is tested there. */
describe('A group of threads', () => {
  const workers: Worker[] = [];

  function group(count: number, start: () => Worker): Supervisor {
    const started = () => {
      const worker = start();
      workers.push(worker);
      return worker;
    };
    const log = pino({ level: 'silent' });
    return new Supervisor({ count, port: 0, host: '127.0.0.1', start: started, log });
  }

  afterEach(() => Promise.all(workers.map((worker) => worker.terminate())));

  async function failureOf(threads: Supervisor): Promise<Error> {
    try {
      await threads.listen();
    } catch (error) {
      if (error instanceof Error) return error;
    }
    throw new Error('it listens');
  }

  it('names THREADS where ports cannot be shared', async () => {
    const error = await failureOf(group(2, () => new Worker(UNWILLING)));
    expect(error.message).to.match(/cannot share a port among threads: set THREADS to 1/);
    expect(error).to.include({ code: 'ENOTSUP', syscall: 'listen' });
  });

  it('says what the system says, with one thread', async () => {
    const error = await failureOf(group(1, () => new Worker(UNWILLING)));
    expect(error.message).to.equal('listen ENOTSUP');
  });

  it('does not start when a thread ends at its start, and says why', async () => {
    const dying = () => new Worker('throw new Error("a fault at the start")', { eval: true });
    const threads = group(2, dying);
    expect((await failureOf(threads)).message).to.match(/ended at its start: [^]*a fault at the start/);
    expect([threads.hasListened, threads.listening, threads.replaced]).to.deep.equal([false, 0, 0]);
  });
});

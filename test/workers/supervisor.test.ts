import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { Supervisor } from '../../src/workers/supervisor.ts';
import { SILENT } from '../support/readable-log.ts';
import { rejectionOf } from '../support/refusal.ts';

const UNWILLING = new URL('unwilling-worker.ts', import.meta.url);

/** The tests in test/system prove the other promises, in whole processes. */
describe('The supervisor', () => {
  let supervisor: Supervisor;

  afterEach(() => supervisor.terminate());

  /** Returns the error with which it fails to listen. */
  function failureOf(program: URL): Promise<Error> {
    const config = { ...readConfig({ PORT: '0', HOST: '127.0.0.1' }), threads: 2 };
    supervisor = new Supervisor(config, SILENT, program);
    return rejectionOf(supervisor.listen(100));
  }

  it('reports the system error when a worker cannot listen', async () => {
    const error = await failureOf(UNWILLING);
    expect(error).to.include({ message: 'listen ENOTSUP', code: 'ENOTSUP', syscall: 'listen' });
  });

  it('fails to start with the reason when a worker ends at its start', async () => {
    const dying = new URL('data:text/javascript,throw new Error("a fault at the start")');
    expect((await failureOf(dying)).message).to.match(/ended before it listened: [^]*a fault at the start/);
    expect([supervisor.hasListened, supervisor.listening, supervisor.replaced]).to.deep.equal([false, 0, 0]);
  });
});

import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { WorkerHandle } from '../../src/workers/worker-handle.ts';

describe('A worker that does not reply to a command', () => {
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
  });

  afterEach(() => {
    mock.timers.reset();
  });

  for (const [kind, program] of [
    ['because it is stuck in a loop', 'for (;;);'],
    ['because it waits', 'setInterval(() => {}, 1000)'],
  ]) {
    it(`is ended after 30 seconds, ${kind}`, async () => {
      const worker = new WorkerHandle(new Worker(program, { eval: true }));
      const outcome = worker.run({ name: 'drop-unused-images' });
      mock.timers.tick(29_999);
      await delay(200);
      expect(worker.hasEnded).to.equal(false);
      mock.timers.tick(1);
      expect(await outcome).to.equal(undefined);
      expect(await worker.ended).to.equal('it did not reply to drop-unused-images');
    });
  }

  it('is not ended during a drain', async () => {
    const replies = `const { parentPort } = require('node:worker_threads');
      parentPort.on('message', ({ number }) => parentPort.postMessage({ number, outcome: {} }));`;
    const worker = new WorkerHandle(new Worker(replies, { eval: true }));
    const outcome = worker.run({ name: 'drain', delaySeconds: 0, graceSeconds: 1 });
    mock.timers.tick(3_600_000);
    expect(await outcome).to.deep.equal({});
    await worker.terminate('it is no longer needed');
  });
});

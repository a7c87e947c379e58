import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { WorkerHandle } from '../../src/workers/worker-handle.ts';

const CHECK_MS = 20;

describe('A worker that does not reply to a command', () => {
  for (const [kind, program] of [
    ['because it is stuck in a loop', 'for (;;);'],
    ['because it waits', 'setInterval(() => {}, 1000)'],
  ]) {
    it(`is ended, ${kind}`, async () => {
      const worker = new WorkerHandle(new Worker(program, { eval: true }), CHECK_MS);
      expect(await worker.run({ name: 'drop-unused-images' })).to.equal(undefined);
      expect(await worker.ended).to.equal('it did not reply to drop-unused-images');
    });
  }

  it('is not ended during a drain', async () => {
    const replies = `const { parentPort } = require('node:worker_threads');
      parentPort.on('message', ({ number }) => setTimeout(() => parentPort.postMessage({ done: number, outcome: {} }), ${CHECK_MS * 15}));`;
    const worker = new WorkerHandle(new Worker(replies, { eval: true }), CHECK_MS);
    expect(await worker.run({ name: 'drain', graceSeconds: 1, isUrgent: false })).to.deep.equal({});
    await worker.terminate('it is no longer needed');
  });
});

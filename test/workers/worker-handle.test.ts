import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { type SectionImage, sharedRecordsOf } from '../../src/store/organization-image.ts';
import { sharedBytes, sharedUint32s } from '../../src/store/memory/shared-arrays.ts';
import { batchesOf, WorkerHandle } from '../../src/workers/worker-handle.ts';
import { emptyCollection, emptyList } from '../support/empty-image.ts';

describe('A message of images', () => {
  /** Returns the numbers of shared slabs of the images in each message. */
  const batched = (...counts: readonly number[]) => {
    const images = counts.map((count) => {
      const slabs = Array.from({ length: count }, (_, i) => ({ number: i + 1, bytes: sharedBytes(0) }));
      const records = { slabs, places: sharedUint32s(0), isShared: true };
      const tickets = { ...emptyCollection('ticketId'), records };
      return { organizationId: 'north', image: { ...emptyList('tickets', ''), collections: { tickets } } };
    });
    const countOf = (image: SectionImage) => sharedRecordsOf(image).flatMap(({ slabs }) => slabs).length;
    return Array.from(batchesOf(images), (batch) => batch.map(({ image }) => countOf(image)));
  };

  it('has at most 32 of them', () => {
    expect(batched(...Array<number>(70).fill(0)).map(({ length }) => length)).to.deep.equal([32, 32, 6]);
    expect(batched()).to.deep.equal([]);
  });

  it('has some 1,000 slabs, or one image that has more', () => {
    expect(batched(700, 200, 100, 300, 2000, 400)).to.deep.equal([[700, 200], [100, 300], [2000], [400]]);
  });
});

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
      const outcome = worker.run({ name: 'drop-earlier-view', bytesFreed: 0 });
      mock.timers.tick(29_999);
      await delay(200);
      expect(worker.hasEnded).to.equal(false);
      mock.timers.tick(1);
      expect(await outcome).to.equal(undefined);
      expect(await worker.ended).to.equal('it did not reply to drop-earlier-view');
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

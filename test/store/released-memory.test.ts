import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/store-registry.ts';
import { emptyImage } from './empty-image.ts';

const MEGABYTES = 200;
const MOST_MS = 10_000;

describe('Memory that a swap lets go of', () => {
  /** Its pages are never touched, so the machine gives nothing for it. */
  function imageOf(digest: string) {
    const image = emptyImage('north', digest);
    const bytes = new Uint8Array(new SharedArrayBuffer(MEGABYTES * 1024 * 1024));
    return { ...image, tickets: { ...image.tickets, records: { ...image.tickets.records, bytes } } };
  }

  it('is collected, though the collector does not count shared memory', async () => {
    const registry = new StoreRegistry();
    const swap = (digest: string) => {
      const image = imageOf(digest);
      registry.swap('a.sqlite', { snapshotId: digest, producedAt: '', organizations: [image] });
      return new WeakRef(image);
    };
    const first = swap('first');
    // What a WeakRef was made of stays until the end of the turn.
    await setTimeout();
    swap('second');
    const end = performance.now() + MOST_MS;
    while (first.deref() !== undefined && performance.now() < end) await setTimeout(10);
    expect(first.deref()).to.equal(undefined);
    expect(registry.get('north')?.digest).to.equal('second');
  });
});

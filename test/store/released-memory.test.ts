import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { emptyImage } from './empty-image.ts';

const MEGABYTES = 200;

describe('Memory that a swap lets go of', () => {
  /** Its pages are never touched, so the machine gives nothing for it. */
  function imageOf(digest: string) {
    const image = emptyImage('north', digest);
    const bytes = new Uint8Array(new SharedArrayBuffer(MEGABYTES * 1024 * 1024));
    const tickets = { ...image.tickets, records: { ...image.tickets.records, bytes } };
    return { ...image, tickets, bytesHeld: bytes.length };
  }

  it('is collected, though the collector does not count shared memory', async () => {
    const registry = new StoreRegistry();
    const collected = Promise.withResolvers<string>();
    // A WeakRef would not do: whoever asks it keeps what it refers to.
    const watch = new FinalizationRegistry(collected.resolve);
    const swap = (digest: string) => {
      const image = imageOf(digest);
      watch.register(image, digest);
      registry.swap('a.sqlite', { snapshotId: digest, producedAt: '', organizations: [image] });
      registry.releaseUnwalked();
    };
    swap('first');
    swap('second');
    // Node tells of it when the event loop turns, and nothing else turns it here.
    const turning = setInterval(() => undefined, 10);
    expect(await collected.promise).to.equal('first');
    clearInterval(turning);
    expect(registry.view.get('north')?.contentDigest).to.equal('second');
  });
});

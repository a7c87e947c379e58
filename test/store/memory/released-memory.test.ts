import { expect } from 'chai';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { emptyCollection, emptyImage } from '../../support/empty-image.ts';

const MEGABYTES = 200;

describe('The memory that a swap releases', () => {
  /** The pages are never touched, so that the system allocates no memory. */
  function imageOf(digest: string) {
    const image = emptyImage('north', digest);
    const bytes = new Uint8Array(new SharedArrayBuffer(MEGABYTES * 1024 * 1024));
    const collection = emptyCollection('ticketId');
    const collections = { tickets: { ...collection, records: { ...collection.records, bytes } } };
    const tickets = { ...image.lists.tickets, collections, bytesHeld: bytes.length };
    return { ...image, lists: { ...image.lists, tickets } };
  }

  it('is collected, although the garbage collector does not count shared memory', async () => {
    const registry = new StoreRegistry();
    const collected = Promise.withResolvers<string>();
    // Reading a WeakRef would keep its target alive.
    const watch = new FinalizationRegistry(collected.resolve);
    const swap = (digest: string) => {
      const image = imageOf(digest);
      watch.register(image.lists.tickets, digest);
      registry.swap('a.sqlite', {
        snapshotId: digest,
        producedAt: '',
        organizations: [image],
      });
      registry.releaseUnwalked();
    };
    swap('first');
    swap('second');
    // Finalization callbacks run on a turn of the event loop, and nothing else turns it here.
    const turning = setInterval(() => undefined, 10);
    expect(await collected.promise).to.equal('first');
    clearInterval(turning);
    expect(registry.view.live.get('north')?.lists.tickets.digest).to.equal('second');
  });
});

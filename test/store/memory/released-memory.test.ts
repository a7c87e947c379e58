import { expect } from 'chai';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { emptyImage, WALKED } from '../../support/empty-image.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

describe('The memory that a swap releases', () => {
  it('is collected, although the garbage collector does not count shared memory', async () => {
    const registry = new StoreRegistry();
    const collected = Promise.withResolvers<string>();
    // Reading a WeakRef would keep its target alive.
    const watch = new FinalizationRegistry(collected.resolve);
    const swap = (digest: string) => {
      const image = emptyImage('north', digest);
      const tickets = { ...image.lists.tickets, bytesHeld: 200 * MEGABYTE };
      watch.register(tickets, digest);
      const organizations = [{ ...image, lists: { ...image.lists, tickets } }];
      registry.swap('a.sqlite', { snapshotId: digest, producedAt: '', organizations });
      registry.releaseExpired(WALKED);
    };
    swap('first');
    swap('second');
    // Finalization callbacks run on a turn of the event loop, and nothing else turns it here.
    const turning = setInterval(() => undefined, 10);
    expect(await collected.promise).to.equal('first');
    clearInterval(turning);
    expect(registry.view.get('north')?.lists.tickets.digest).to.equal('second');
  });
});

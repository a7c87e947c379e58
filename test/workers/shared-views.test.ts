import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { WorkerStores, ViewPublisher } from '../../src/workers/shared-views.ts';
import { emptySnapshot } from '../support/empty-image.ts';

describe('The stores of threads', () => {
  let registry: StoreRegistry;
  let feed: ViewPublisher;
  let shownVersion: Int32Array<SharedArrayBuffer>;
  let threads: WorkerStores[];

  beforeEach(() => {
    registry = new StoreRegistry();
    feed = new ViewPublisher();
    shownVersion = new Int32Array(new SharedArrayBuffer(4));
    threads = [new WorkerStores(shownVersion), new WorkerStores(shownVersion)];
  });

  type Sent = ViewPublisher['latest'];

  /** As it is sent from one thread to another. */
  function prepare(thread: WorkerStores, sent: Sent): void {
    const { images, view } = structuredClone(sent);
    for (const image of images) thread.add(image);
    thread.prepare(view);
  }

  /** The latest of the registry, not yet shown; undefined when it was sent before. */
  function prepareAll(): Sent | undefined {
    const sent = feed.next(registry.view);
    if (sent !== undefined) for (const thread of threads) prepare(thread, sent);
    return sent;
  }

  function showAll(): void {
    const sent = prepareAll();
    if (sent === undefined) return;
    Atomics.store(shownVersion, 0, sent.view.version);
    for (const thread of threads) thread.dropUnused();
  }

  const shown = (pin?: string) => threads.map((thread) => thread.view.get('north', pin)?.snapshotId);

  it('are none at the beginning', () => {
    expect(threads.map(({ view }) => view.isEmpty)).to.deep.equal([true, true]);
    expect(shown()).to.deep.equal([undefined, undefined]);
  });

  it('show the next view at one moment, in all of them', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    expect(shown()).to.deep.equal(['a1', 'a1']);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    const sent = prepareAll();
    expect(shown()).to.deep.equal(['a1', 'a1']);
    Atomics.store(shownVersion, 0, sent?.view.version ?? 0);
    expect(shown()).to.deep.equal(['a2', 'a2']);
    expect(shown('N1'), 'until it is known that nobody walks it').to.deep.equal(['a1', 'a1']);
  });

  it('share the memory, and what they know of walks', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    const [one, other] = threads.map((thread) => thread.view.get('north'));
    expect(one?.image.events.ids).to.deep.equal(registry.view.get('north')?.image.events.ids);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    one?.walks.set();
    expect(other?.walks.isSet).to.equal(true);
    showAll();
    registry.releaseUnwalked();
    showAll();
    expect(shown('N1')).to.deep.equal(['a1', 'a1']);
    registry.retainOnly(new Set());
    showAll();
    expect(shown('N1')).to.deep.equal(['a2', 'a2']);
  });

  it('are sent each image once, as long as it is in a view', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
    expect(feed.next(registry.view)?.images).to.have.length(2);
    expect(feed.next(registry.view), 'what was sent').to.equal(undefined);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S1'));
    expect(feed.next(registry.view)?.images).to.have.length(1);
    expect(feed.latest.images, 'for who comes later').to.have.length(3);
    registry.releaseUnwalked();
    expect(feed.next(registry.view)?.images).to.have.length(0);
    expect(feed.latest.images).to.have.length(2);
  });

  it('are the same in a thread that comes later', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    threads[0].view.get('north')?.walks.set();
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    showAll();
    const late = new WorkerStores(shownVersion);
    prepare(late, feed.latest);
    threads.push(late);
    expect(shown()).to.deep.equal(['a2', 'a2', 'a2']);
    expect(shown('N1')).to.deep.equal(['a1', 'a1', 'a1']);
    registry.swap('a.sqlite', emptySnapshot('a3', 'north=N3'));
    showAll();
    expect(shown()).to.deep.equal(['a3', 'a3', 'a3']);
  });

  it('keep what a store knows of the moment, when a view leaves it as it is', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    const before = threads[0].view.get('north');
    registry.swap('b.sqlite', emptySnapshot('b1', 'south=S1'));
    showAll();
    expect(threads[0].view.get('north')).to.equal(before);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N1'));
    showAll();
    expect(threads[0].view.get('north')).to.not.equal(before);
    expect(threads[0].view.get('north')?.image, 'of the same content').to.equal(before?.image);
  });

  it('refuse a view of images that they were not sent', () => {
    const store = { number: 7, snapshotId: 's', producedAt: '' };
    expect(() => {
      threads[0].prepare({ version: 1, live: [store], retained: [] });
    }).to.throw('image 7 was not sent');
  });
});

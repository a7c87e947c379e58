import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { WorkerStores, ViewPublisher } from '../../src/workers/shared-views.ts';
import { emptySnapshot } from '../support/empty-image.ts';

describe('The store views of workers', () => {
  let registry: StoreRegistry;
  let publisher: ViewPublisher;
  let shownVersion: Int32Array<SharedArrayBuffer>;
  let workers: WorkerStores[];

  beforeEach(() => {
    registry = new StoreRegistry();
    publisher = new ViewPublisher();
    shownVersion = new Int32Array(new SharedArrayBuffer(4));
    workers = [new WorkerStores(shownVersion), new WorkerStores(shownVersion)];
  });

  type Sent = ViewPublisher['latest'];

  /** Gives a worker a message from the main thread. */
  function prepare(worker: WorkerStores, sent: Sent): void {
    const { images, view } = structuredClone(sent);
    for (const image of images) worker.add(image);
    worker.prepare(view);
  }

  /** Prepares the registry's view in all workers. Returns undefined if it was sent before. */
  function prepareAll(): Sent | undefined {
    const sent = publisher.next(registry.view);
    if (sent !== undefined) for (const worker of workers) prepare(worker, sent);
    return sent;
  }

  function showAll(): void {
    const sent = prepareAll();
    if (sent === undefined) return;
    Atomics.store(shownVersion, 0, sent.view.version);
    for (const worker of workers) worker.dropUnused();
  }

  const shown = (digest?: string) => workers.map(({ view }) => view.get('north', digest)?.snapshotId);

  it('are empty at first', () => {
    expect(workers.map(({ view }) => view.isEmpty)).to.deep.equal([true, true]);
    expect(shown()).to.deep.equal([undefined, undefined]);
  });

  it('change to the next view in all workers at once', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    expect(shown()).to.deep.equal(['a1', 'a1']);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    const sent = prepareAll();
    expect(shown()).to.deep.equal(['a1', 'a1']);
    Atomics.store(shownVersion, 0, sent?.view.version ?? 0);
    expect(shown()).to.deep.equal(['a2', 'a2']);
    expect(shown('N1'), 'retained until the walks are checked').to.deep.equal(['a1', 'a1']);
  });

  it('share the images and the walk marks', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    const [one, other] = workers.map((thread) => thread.view.get('north'));
    expect(one?.image.events.ids).to.deep.equal(registry.view.get('north')?.image.events.ids);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    one?.walks.noteUse(1);
    expect(other?.walks.lastUse).to.equal(1000);
    showAll();
    registry.releaseUnwalked();
    showAll();
    expect(shown('N1')).to.deep.equal(['a1', 'a1']);
    registry.retainOnly(new Set());
    showAll();
    expect(shown('N1')).to.deep.equal([undefined, undefined]);
  });

  it('are sent each image once while it is in a view', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
    expect(publisher.next(registry.view)?.images, 'content and history').to.have.length(4);
    expect(publisher.next(registry.view), 'a view that was sent').to.equal(undefined);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S1'));
    expect(publisher.next(registry.view)?.images, 'one content, two histories').to.have.length(3);
    expect(publisher.latest.images, 'for a later worker').to.have.length(6);
    registry.releaseUnwalked();
    expect(publisher.next(registry.view)?.images).to.have.length(0);
    expect(publisher.latest.images).to.have.length(4);
  });

  it('are the same in a worker that starts later', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    workers[0].view.get('north')?.walks.noteUse(1);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    showAll();
    const late = new WorkerStores(shownVersion);
    prepare(late, publisher.latest);
    workers.push(late);
    expect(shown()).to.deep.equal(['a2', 'a2', 'a2']);
    expect(shown('N1')).to.deep.equal(['a1', 'a1', 'a1']);
    registry.swap('a.sqlite', emptySnapshot('a3', 'north=N3'));
    showAll();
    expect(shown()).to.deep.equal(['a3', 'a3', 'a3']);
  });

  it('keep a store, with its cached state, in a view that does not change it', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    showAll();
    const before = workers[0].view.get('north');
    registry.swap('b.sqlite', emptySnapshot('b1', 'south=S1'));
    showAll();
    expect(workers[0].view.get('north')).to.equal(before);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N1'));
    showAll();
    expect(workers[0].view.get('north')).to.not.equal(before);
    expect(workers[0].view.get('north')?.image, 'unchanged content').to.equal(before?.image);
  });

  it('refuse a view whose image was not sent', () => {
    const store = {
      content: 7,
      history: 8,
      snapshotId: 's',
      producedAt: '',
      latestInstant: 0n,
    };
    expect(() => {
      workers[0].prepare({ version: 1, live: [store], retained: [] });
    }).to.throw('the images of a store were not sent');
  });
});

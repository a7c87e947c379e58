import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { WorkerStores, ViewPublisher } from '../../src/workers/shared-views.ts';
import { emptySnapshot, WALKED } from '../support/empty-image.ts';
import { lastUseOf, noteUse } from '../../src/store/organization-image.ts';

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

  function publishView(): void {
    const sent = prepareAll();
    if (sent === undefined) return;
    Atomics.store(shownVersion, 0, sent.view.version);
    for (const worker of workers) worker.dropUnused();
  }

  function goLive(snapshotId: string, ...organizations: readonly string[]): void {
    registry.swap(`${snapshotId[0]}.sqlite`, emptySnapshot(snapshotId, ...organizations));
    publishView();
  }

  const served = (digest?: string) =>
    workers.map(({ view }) =>
      digest === undefined
        ? view.live.get('north')?.snapshotId
        : view.find('north', 'tickets', digest)?.snapshotId,
    );

  it('change to the next view in all workers at once', () => {
    expect(served()).to.deep.equal([undefined, undefined]);
    goLive('a1', 'north=N1');
    expect(served()).to.deep.equal(['a1', 'a1']);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    const sent = prepareAll();
    expect(served()).to.deep.equal(['a1', 'a1']);
    Atomics.store(shownVersion, 0, sent?.view.version ?? 0);
    expect(served()).to.deep.equal(['a2', 'a2']);
    expect(served('N1'), 'retained until the walks are checked').to.deep.equal(['a1', 'a1']);
  });

  it('share the images and the walk marks', () => {
    goLive('a1', 'north=N1');
    const [one, other] = workers.map((thread) => thread.view.live.get('north'));
    expect(one?.lists.events.collections).to.deep.equal(
      registry.view.live.get('north')?.lists.events.collections,
    );
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
    if (one === undefined || other === undefined) throw new Error('north is not live');
    noteUse(one.lists.tickets, 1);
    expect(lastUseOf(other.lists.tickets, 5000)).to.equal(1000);
    expect(lastUseOf(other.lists.orders, 5000)).to.equal(0);
    publishView();
    registry.releaseExpired(WALKED);
    publishView();
    expect(served('N1')).to.deep.equal(['a1', 'a1']);
    registry.retainOnly([]);
    publishView();
    expect(served('N1')).to.deep.equal([undefined, undefined]);
  });

  it('are sent each image once while it is in a view', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
    expect(publisher.next(registry.view)?.images, 'five for each').to.have.length(10);
    expect(publisher.next(registry.view), 'a view that was sent').to.equal(undefined);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S1'));
    expect(publisher.next(registry.view)?.images, 'lists of one, histories of both').to.have.length(6);
    expect(publisher.latest.images, 'for a later worker').to.have.length(16);
    registry.releaseExpired(WALKED);
    expect(publisher.next(registry.view)?.images).to.have.length(0);
    expect(publisher.latest.images).to.have.length(10);
  });

  it('are the same in a worker that starts later', () => {
    goLive('a1', 'north=N1');
    const tickets = workers[0].view.live.get('north')?.lists.tickets;
    if (tickets !== undefined) noteUse(tickets, 1);
    goLive('a2', 'north=N2');
    const late = new WorkerStores(shownVersion);
    prepare(late, publisher.latest);
    workers.push(late);
    expect(served()).to.deep.equal(['a2', 'a2', 'a2']);
    expect(served('N1')).to.deep.equal(['a1', 'a1', 'a1']);
    goLive('a3', 'north=N3');
    expect(served()).to.deep.equal(['a3', 'a3', 'a3']);
  });

  it('keep the images of a view that does not change them, and with them the state of the thread', () => {
    const lists = () => workers[0].view.live.get('north')?.lists;
    goLive('a1', 'north=N1');
    const before = lists();
    goLive('b1', 'south=S1');
    goLive('a2', 'north=N1');
    expect(workers[0].view.live.get('north')?.snapshotId).to.equal('a2');
    for (const list of Object.values(before ?? {})) expect(lists()?.[list.name]).to.equal(list);
  });

  it('refuse a view whose image was not sent', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    const sent = publisher.next(registry.view);
    expect(() => {
      if (sent !== undefined) workers[0].prepare(sent.view);
    }).to.throw(/^image \d was not sent$/);
  });
});

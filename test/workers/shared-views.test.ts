import { expect } from 'chai';
import fc from 'fast-check';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { WorkerStores, ViewPublisher } from '../../src/workers/shared-views.ts';
import { byDepth } from '../support/depth.ts';
import { emptySnapshot, WALKED, listIn } from '../support/empty-image.ts';
import { FIXED } from '../support/random.ts';
import { sharedUint32s } from '../../src/store/memory/shared-arrays.ts';
import { byList, lastUseOf, noteUse, type SectionImage } from '../../src/store/organization-image.ts';

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

  function publishView(): Sent | undefined {
    const sent = prepareAll();
    if (sent === undefined) return undefined;
    Atomics.store(shownVersion, 0, sent.view.version);
    for (const worker of workers) worker.dropEarlier(sent.bytesFreed);
    return sent;
  }

  function goLive(snapshotId: string, ...organizations: readonly string[]): void {
    registry.swap(`${snapshotId[0]}.sqlite`, emptySnapshot(snapshotId, ...organizations));
    publishView();
  }

  const served = (digest?: string) =>
    workers.map(({ view }) =>
      digest === undefined
        ? view.get('north')?.snapshotId
        : listIn(view, 'north', 'tickets', digest)?.snapshotId,
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
    const [one, other] = workers.map((thread) => thread.view.get('north'));
    expect(one?.lists.events.collections).to.deep.equal(registry.view.get('north')?.lists.events.collections);
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

  it('are sent each image once while it is in a view, and of a view what differs from the one before', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
    expect(publisher.next(registry.view)?.images, 'five for each').to.have.length(10);
    expect(publisher.next(registry.view), 'a view that was sent').to.equal(undefined);
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S1'));
    expect(publisher.next(registry.view)?.images, 'lists of one, histories of both').to.have.length(6);
    expect(publisher.latest.images, 'for a later worker').to.have.length(16);
    registry.swap('b.sqlite', emptySnapshot('b1', 'east=E1'));
    const { images = [], view } = publisher.next(registry.view) ?? {};
    expect(images).to.have.length(5);
    const changedIn = (changed: Sent['view']['changed'] = []) =>
      changed.map(({ organizationId }) => organizationId);
    expect(view?.gone).to.deep.equal([]);
    expect(changedIn(view?.changed)).to.deep.equal(['east']);
    registry.releaseExpired(WALKED);
    const released = publisher.next(registry.view);
    expect(released?.images).to.have.length(0);
    expect(changedIn(released?.view.changed)).to.deep.equal(['north', 'south']);
    expect(publisher.latest.images).to.have.length(15);
  });

  it('are the same in a worker that starts later', () => {
    goLive('a1', 'north=N1');
    const tickets = workers[0].view.get('north')?.lists.tickets;
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
    const lists = () => workers[0].view.get('north')?.lists;
    goLive('a1', 'north=N1');
    const before = lists();
    goLive('b1', 'south=S1');
    goLive('a2', 'north=N1');
    expect(workers[0].view.get('north')?.snapshotId).to.equal('a2');
    for (const list of Object.values(before ?? {})) expect(lists()?.[list.name]).to.equal(list);
  });

  it('refuse a view whose image was not sent', () => {
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    const sent = publisher.next(registry.view);
    expect(() => {
      if (sent !== undefined) workers[0].prepare(sent.view);
    }).to.throw('image north events N1 was not sent');
  });

  it(`are the whole view after any history of swaps, releases and ended workers (seed ${FIXED.seed})`, () => {
    const organizations = ['north', 'south', 'east'] as const;
    let made = 0;
    /** Returns a section that holds a byte, and differs from any other. */
    const distinct = <Image extends SectionImage>(image: Image): Image => {
      const uses = sharedUint32s(2);
      uses[0] = ++made;
      return { ...image, uses, bytesHeld: 1 };
    };
    const digests = fc.option(fc.constantFrom('A', 'B', 'C'), { nil: undefined });
    const step = fc.oneof(
      fc.record({ swap: fc.tuple(digests, digests, digests), file: fc.constantFrom('a', 'b') }),
      fc.record({ keep: fc.func(fc.boolean()) }),
      fc.record({ replace: fc.nat(1) }),
      fc.constant('publish' as const),
    );
    const property = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      registry = new StoreRegistry();
      publisher = new ViewPublisher();
      shownVersion = new Int32Array(new SharedArrayBuffer(4));
      workers = [new WorkerStores(shownVersion), new WorkerStores(shownVersion)];
      let shown = registry.view;
      let bytesHeld = 0;
      for (const [i, one] of [...steps, 'publish' as const].entries()) {
        if (one === 'publish') {
          const { images, bytesFreed } = publishView() ?? { images: [], bytesFreed: 0 };
          shown = registry.view;
          bytesHeld += images.length - bytesFreed;
          expect(bytesHeld).to.equal(
            5 * shown.size + [...shown.values()].flatMap(({ retained }) => retained).length,
          );
        } else if ('swap' in one) {
          const texts = one.swap.flatMap((digest, j) =>
            digest === undefined ? [] : [`${organizations[j]}=${digest}`],
          );
          const snapshot = emptySnapshot(`${one.file}${i}`, ...texts);
          registry.swap(`${one.file}.sqlite`, {
            ...snapshot,
            organizations: snapshot.organizations.map(({ organizationId, lists, history }) => ({
              organizationId,
              lists: byList((name) => distinct(lists[name])),
              history: distinct(history),
            })),
          });
        } else if ('keep' in one) {
          registry.retainOnly(registry.retained.filter(({ image }) => one.keep(image.uses[0])));
        } else {
          workers[one.replace] = new WorkerStores(shownVersion);
          prepare(workers[one.replace], publisher.latest);
        }
        for (const { view } of workers) expect(view).to.deep.equal(shown);
      }
    });
    fc.assert(property, { ...FIXED, numRuns: byDepth({ short: 50, deep: 2000 }) });
  });
});

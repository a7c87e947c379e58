import { expect } from 'chai';
import {
  type CollectionName,
  type Copy,
  type Entry,
  FoyerClient,
  FoyerError,
  ResponseError,
  type SyncState,
  type Ticket,
} from '../../client/src/foyer-client.ts';
import type { DeletionsImage, OrganizationImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture } from '../support/api-fixture.ts';
import { emptyImage } from '../support/empty-image.ts';
import { TestApi } from '../support/test-api.ts';
import { rejectionOf } from './rejection.ts';

/** A copy in memory, with the calls that it got. */
class MemoryCopy implements Copy {
  entries = new Map<string, Entry>();
  state: SyncState | undefined;
  readonly calls: string[] = [];
  #draft = this.entries;

  begin(): void {
    this.calls.push('begin');
    this.#draft = new Map(this.entries);
  }

  clear(collection: CollectionName): void {
    for (const [key, entry] of this.#draft) if (entry.collection === collection) this.#draft.delete(key);
  }

  async put(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) this.#draft.set(`${entry.collection} ${entry.id}`, entry);
    await Promise.resolve();
  }

  remove(collection: CollectionName, ids: readonly string[]): void {
    for (const id of ids) this.#draft.delete(`${collection} ${id}`);
  }

  commit(state: SyncState): void {
    this.calls.push('commit');
    this.entries = this.#draft;
    // It is stored as JSON.
    this.state = JSON.parse(JSON.stringify(state)) as SyncState;
  }

  rollback(): void {
    this.calls.push('rollback');
  }
}

describe('A sync of the TypeScript client', () => {
  let stores: StoreRegistry;
  let api: TestApi;
  let content: OrganizationImage;
  let deletions: DeletionsImage;
  let copy: MemoryCopy;
  let snapshots: number;
  const requests: string[] = [];

  beforeEach(async () => {
    stores = new StoreRegistry();
    api = await TestApi.start({ stores: () => stores.view });
    const { image } = await fixture();
    [content] = image.organizations;
    [deletions] = image.deletions;
    copy = new MemoryCopy();
    snapshots = 0;
    requests.length = 0;
    swap();
  });
  afterEach(() => api.stop());

  /** Makes another snapshot live, newer by default. */
  function swap(organization = content, time?: number): void {
    const snapshotId = `snapshot ${++snapshots}`;
    const producedAt = new Date(time ?? Date.now() + snapshots).toISOString();
    stores.swap('fixture', { snapshotId, producedAt, organizations: [organization], deletions: [deletions] });
  }

  /** Makes a round, and calls a function before each request to a path. */
  function sync(before: (path: string) => void = () => undefined): Promise<SyncState> {
    const client = new FoyerClient({
      baseUrl: api.origin,
      credential: api.authorization('north').slice('Bearer '.length),
      maxAttempts: 1,
      fetch: (url, init) => {
        const { pathname } = new URL(new Request(url).url);
        requests.push(pathname);
        before(pathname);
        return fetch(url, init);
      },
    });
    return client.sync(copy, copy.state);
  }

  it('copies all records, sessions with their events', async () => {
    const state = await sync();
    expect(state).to.include({ snapshotId: 'snapshot 1' }).and.to.deep.equal(copy.state);
    const { events, sessions, tickets, orders, offers } = content;
    const counts = [events, sessions, tickets, orders, offers].map(({ count }) => count);
    expect(copy.entries.size).to.equal(counts.reduce((sum, count) => sum + count));
    expect(copy.entries.get('sessions ses_b1')).to.have.property('eventId', 'evt_b');
    expect(copy.calls).to.deep.equal(['begin', 'commit']);
  });

  it('requests events and offers again only if they have changed', async () => {
    const first = await sync();
    const { entries } = copy;
    requests.length = 0;
    expect(await sync()).to.deep.equal(first);
    expect(requests).to.deep.equal([
      ...['/v1/tickets', '/v1/orders', '/v1/deletions', '/v1/events', '/v1/catalog/offers'],
    ]);
    expect(copy.entries).to.deep.equal(entries);
  });

  it('begins again when newer data goes live during a round', async () => {
    let isNewer = false;
    const state = await sync((path) => {
      if (path !== '/v1/catalog/offers' || isNewer) return;
      isNewer = true;
      swap(emptyImage('north'));
    });
    expect(copy.calls).to.deep.equal(['begin', 'rollback', 'begin', 'commit']);
    expect(state.snapshotId).to.equal('snapshot 2');
    expect(copy.entries.size).to.equal(0);
  });

  it('begins again when newer data lacks an event whose sessions it requests', async () => {
    await sync((path) => {
      if (path.endsWith('/sessions')) swap(emptyImage('north'));
    });
    expect(copy.calls).to.deep.equal(['begin', 'rollback', 'begin', 'commit']);
    expect(copy.entries.size).to.equal(0);
  });

  it('gives up when newer data goes live during each attempt', async () => {
    await sync();
    const { entries, state } = copy;
    const attempts = sync((path) => {
      if (path === '/v1/orders') swap();
    });
    expect(await rejectionOf(attempts)).to.be.instanceOf(FoyerError);
    expect(copy.calls.slice(2)).to.deep.equal(Array.from({ length: 5 }, () => ['begin', 'rollback']).flat());
    expect(copy).to.include({ entries, state });
  });

  for (const [title, days] of [
    ['older than 60 days, since deletions may no longer be listed', 61],
    ['newer than the data, as after a rollback of the service', -1],
  ] as const)
    it(`begins anew with a copy that is ${title}`, async () => {
      const { dataAsOf } = await sync();
      const only = { ticketId: 'tkt_of_the_copy_only' } as Ticket;
      copy.entries.set('tickets only', { collection: 'tickets', id: 'only', record: only });
      swap(content, Date.parse(dataAsOf) + days * 86_400_000);
      expect(await sync()).to.include({ snapshotId: 'snapshot 2' });
      expect(copy.entries.has('tickets only')).to.equal(false);
      expect(copy.calls.slice(2)).to.deep.equal(['begin', 'rollback', 'begin', 'commit']);
    });

  it('raises the error of the copy, also when the rollback fails as well', async () => {
    const full = new Error('the disk is full');
    const none = new Error('no transaction is active');
    copy.put = () => Promise.reject(full);
    expect(await rejectionOf(sync())).to.equal(full);
    copy.rollback = () => {
      throw none;
    };
    const error = await rejectionOf(sync());
    expect(error).to.be.instanceOf(AggregateError).and.to.have.deep.property('errors', [full, none]);
    expect(error.message).to.include(full.message);
  });

  it('leaves the copy as it was when a round fails', async () => {
    await sync();
    const { entries, state } = copy;
    const failed = sync((path) => {
      if (path === '/v1/events')
        stores.swap('fixture', { snapshotId: '', producedAt: '', organizations: [], deletions: [] });
    });
    expect(await rejectionOf(failed)).to.be.instanceOf(ResponseError);
    expect(copy.calls.slice(2)).to.deep.equal(['begin', 'rollback']);
    expect(copy).to.include({ entries, state });
  });
});

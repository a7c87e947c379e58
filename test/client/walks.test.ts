import { expect } from 'chai';
import {
  type ClientOptions,
  FoyerClient,
  type Ticket,
  WalkGoneError,
} from '../../client/src/foyer-client.ts';
import { Pins } from '../../src/http/checks/pin.ts';
import { newHitCounts } from '../../src/counts/hit-counts.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture, TICKET_COUNT } from '../support/api-fixture.ts';
import { emptyImage } from '../support/empty-image.ts';
import { TestApi } from '../support/test-api.ts';
import { rejectionOf } from './rejection.ts';

describe('A walk of the TypeScript client', () => {
  const hits = newHitCounts(4);
  const pauses: number[] = [];
  let stores: StoreRegistry;
  let api: TestApi;

  beforeEach(async () => {
    const served = newServedDigests();
    stores = new StoreRegistry(served);
    hits.fill(0n);
    pauses.length = 0;
    api = await TestApi.start({
      stores: () => stores.view,
      pins: new Pins(served),
      hits,
      config: { rateLimitPerMinute: 2 },
    });
    stores.swap('fixture', (await fixture()).image);
  });
  afterEach(() => api.stop());

  /** A client, for whom the window of the rate limit ends with each pause. */
  function newClient(options: Partial<ClientOptions> = {}): FoyerClient {
    return new FoyerClient({
      baseUrl: api.origin,
      credential: api.authorization('north').slice('Bearer '.length),
      wait: (milliseconds) => {
        pauses.push(milliseconds);
        hits.fill(0n);
        return Promise.resolve();
      },
      ...options,
    });
  }

  /** Makes a snapshot live in which the organization has no records. */
  function swap(): void {
    const producedAt = '2026-11-21T05:00:00.000Z';
    stores.swap('fixture', { snapshotId: 'newer', producedAt, organizations: [emptyImage('north')] });
  }

  it('waits for the rate limit, and has every record once', async () => {
    const ids = await Array.fromAsync(newClient().tickets.list({ perPage: 10 }), ({ ticketId }) => ticketId);
    expect(new Set(ids).size).to.equal(TICKET_COUNT);
    expect(ids).to.have.length(TICKET_COUNT);
    // Six pages, two a minute.
    expect(pauses).to.have.length(2);
    for (const pause of pauses) expect(pause).to.be.within(1000, 60_000);
  });

  it('shows one snapshot, also when newer data goes live on the way', async () => {
    const client = newClient();
    const seen: Ticket[] = [];
    for await (const { items, page, snapshotId } of client.tickets.pages({ perPage: 10 })) {
      seen.push(...items);
      if (page === 2) swap();
      expect(snapshotId).not.to.equal('newer');
    }
    expect(new Set(seen.map(({ ticketId }) => ticketId)).size).to.equal(TICKET_COUNT);
    expect(await Array.fromAsync(client.tickets.list())).to.deep.equal([]);
  });

  it('ends with WalkGoneError when its data is gone', async () => {
    const pages = newClient().tickets.pages({ perPage: 10 });
    await pages.next();
    swap();
    stores.releaseExpired({ snapshotRetainSeconds: -1, snapshotRetainMaxSeconds: 0 });
    const error = await rejectionOf(pages.next());
    expect(error).to.be.instanceOf(WalkGoneError).and.to.have.property('status', 400);
  });
});

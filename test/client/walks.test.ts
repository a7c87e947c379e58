import { expect } from 'chai';
import { FoyerClient, type Ticket, WalkGoneError } from '../../client/src/foyer-client.ts';
import { Pins } from '../../src/http/checks/pin.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture, TICKET_COUNT } from '../support/api-fixture.ts';
import { emptyImage } from '../support/empty-image.ts';
import { TestApi } from '../support/test-api.ts';
import { rejectionOf } from './rejection.ts';

describe('A walk of the TypeScript client', () => {
  let stores: StoreRegistry;
  let api: TestApi;
  let client: FoyerClient;

  beforeEach(async () => {
    const served = newServedDigests();
    stores = new StoreRegistry(served);
    api = await TestApi.start({ stores: () => stores.view, pins: new Pins(served) });
    stores.swap('fixture', (await fixture()).image);
    const credential = api.authorization('north').slice('Bearer '.length);
    client = new FoyerClient({ baseUrl: api.origin, credential });
  });
  afterEach(() => api.stop());

  /** Makes a snapshot live in which the organization has no records. */
  function swap(): void {
    const producedAt = '2026-11-21T05:00:00.000Z';
    stores.swap('fixture', { snapshotId: 'newer', producedAt, organizations: [emptyImage('north')] });
  }

  it('shows one snapshot, also when newer data goes live on the way', async () => {
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
    const pages = client.tickets.pages({ perPage: 10 });
    await pages.next();
    swap();
    stores.releaseExpired({ snapshotRetainSeconds: -1, snapshotRetainMaxSeconds: 0 });
    const error = await rejectionOf(pages.next());
    expect(error).to.be.instanceOf(WalkGoneError).and.to.have.property('status', 400);
  });
});

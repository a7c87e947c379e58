import { inspect } from 'node:util';
import { expect } from 'chai';
import {
  type ClientOptions,
  FoyerClient,
  ResponseError,
  type Page,
  type Ticket,
  WalkGoneError,
} from '../../client/src/foyer-client.ts';
import { MAX_PER_PAGE } from '../../src/contract/parameter.ts';
import { Pins } from '../../src/http/checks/pin.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture, HARD_ID, PRODUCED_AT, TICKET_COUNT } from '../support/api-fixture.ts';
import { emptyImage, WALKED } from '../support/empty-image.ts';
import { rejectionOf } from '../support/refusal.ts';
import { givenApi, TestApi } from '../support/test-api.ts';

const all = <T>(records: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(records);

function clientOf(api: TestApi, options: Partial<ClientOptions> = {}): FoyerClient {
  const credential = api.authorization('north').slice('Bearer '.length);
  return new FoyerClient({ baseUrl: api.origin, credential, ...options });
}

describe('The TypeScript client', () => {
  const given = givenApi();
  let client: FoyerClient;

  before(() => {
    client = clientOf(given.api);
  });

  /** Returns the ids of the tickets that a list of the client yields. */
  const ticketIds = (tickets: AsyncIterable<Ticket>) => Array.fromAsync(tickets, ({ ticketId }) => ticketId);

  it('yields all records of a list, over pages of the largest size', async () => {
    const ids = await ticketIds(client.tickets.list());
    expect(ids).to.have.length(TICKET_COUNT);
    expect(ids).to.deep.equal(await given.api.ids('/v1/tickets?perPage=100'));
    const [first] = await all(client.tickets.pages());
    expect(first.perPage).to.equal(MAX_PER_PAGE);
    expect(await ticketIds(client.tickets.list({ perPage: 10 }))).to.deep.equal(ids);
  });

  it('yields pages with their snapshot, from any page', async () => {
    const pages = await all(client.tickets.pages({ perPage: 25, page: 2 }));
    expect(pages.map(({ page, items, dataAsOf }) => [page, items.length, dataAsOf])).to.deep.equal([
      [2, 25, PRODUCED_AT],
      [3, 7, PRODUCED_AT],
    ]);
    const beyond: Page<'listTickets'>[] = await all(client.tickets.pages({ perPage: 25, page: 4 }));
    expect(beyond).to.deep.equal([]);
    expect(await all(client.tickets.list({ eventIds: ['none'] }))).to.deep.equal([]);
  });

  it('yields the records of a stream', async () => {
    expect(await all(client.tickets.stream())).to.deep.equal(await all(client.tickets.list()));
  });

  it('retrieves records, with any id that a URL can name', async () => {
    expect(await client.events.get(HARD_ID)).to.have.property('id', HARD_ID);
    expect(await client.tickets.get('tkt_01')).to.have.property('qrCode', 'QR1');
    expect(await client.orders.get('ord_1')).to.have.property('status', 'FULFILLED');
    expect(await client.offers.get('off_b')).to.have.property('type', 'BUNDLE');
    for (const missing of ['tkt_south', ',', '%', '../events']) {
      expect(await client.tickets.get(missing), missing).to.equal(undefined);
    }
    for (const id of ['', '.', '..'])
      expect(await rejectionOf(client.tickets.get(id)), id).to.be.instanceOf(RangeError);
  });

  it('lists the sessions of an event, and refuses a missing event', async () => {
    const sessions = await all(
      client.events.sessions(HARD_ID).list({ startAt: { gt: '2026-01-01T00:00Z' } }),
    );
    expect(sessions.map(({ id }) => id)).to.deep.equal(['ses_h1']);
    const error = await rejectionOf(all(client.events.sessions('evt_south').list()));
    expect(error).to.be.instanceOf(ResponseError).and.to.have.property('status', 404);
  });

  it('yields the pages of one snapshot, also when newer data goes live, until its data is gone', async () => {
    const served = newServedDigests();
    const stores = new StoreRegistry(served);
    stores.swap('fixture', (await fixture()).image);
    await using api = await TestApi.start({ stores: () => stores.view, pins: new Pins(served) });
    const { tickets } = clientOf(api);
    const [pages, interrupted] = [tickets.pages({ perPage: 10 }), tickets.pages({ perPage: 10 })];
    const first = await pages.next();
    await interrupted.next();
    const producedAt = '2026-11-21T05:00:00.000Z';
    stores.swap('fixture', { snapshotId: 'newer', producedAt, organizations: [emptyImage('north')] });
    const rest = await all(pages);
    expect(first.value?.items.concat(rest.flatMap(({ items }) => items))).to.deep.equal(
      await all(client.tickets.list()),
    );
    expect(new Set(rest.map(({ snapshotId }) => snapshotId))).to.deep.equal(
      new Set([first.value?.snapshotId]),
    );
    expect(await all(tickets.list())).to.deep.equal([]);
    stores.releaseExpired({ ...WALKED, snapshotRetainMaxSeconds: 0 });
    const error = await rejectionOf(interrupted.next());
    expect(error).to.be.instanceOf(WalkGoneError).and.to.have.property('status', 400);
  });

  it('requests a list again only if it has changed', async () => {
    const first = await client.events.ifChanged(undefined);
    if (!first.changed) throw new Error('unchanged without a tag');
    const events = await all(first.records);
    expect(events).to.deep.equal(await all(client.events.list()));
    const { snapshotId, dataAsOf, tag } = first;
    const unchanged = await client.events.ifChanged(tag);
    expect(unchanged)
      .to.include({ snapshotId, dataAsOf, changed: false })
      .and.not.to.have.property('records');
    expect(await client.events.ifChanged(unchanged.tag)).to.deep.equal(unchanged);
    // The time of the next session passes.
    given.api.clock.now = Date.parse('2027-01-02T00:00:00Z');
    const second = await client.events.ifChanged(tag);
    expect(second).to.include({ changed: true, snapshotId });
    if (second.changed) expect(await all(second.records)).not.to.deep.equal(events);
  });

  it('raises every violation of a refused query', async () => {
    const eventIds = Array.from({ length: 11 }, (_, i) => `evt_${i}`);
    const error = await rejectionOf(all(client.tickets.list({ perPage: 101, eventIds })));
    if (!(error instanceof ResponseError)) throw error;
    expect(error.status).to.equal(400);
    expect(error.errors.map(({ loc }) => loc)).to.have.members(['query.perPage', 'query.eventIds']);
    expect(error.requestId).to.match(/^[\w-]+$/);
    expect(error.message)
      .to.match(/^GET \/v1\/tickets: 400: .* query\.eventIds: must contain at most 10 /)
      .and.to.include(' query.perPage: must be an integer from 1 to 100');
  });

  it('never shows the credential', async () => {
    const credential = `svc:o:north:${'s'.repeat(43)}`;
    const stranger = new FoyerClient({ baseUrl: given.api.origin, credential });
    const error = await rejectionOf(stranger.tickets.get('tkt_01'));
    expect(error).to.have.property('status', 403);
    for (const shown of [inspect(error), inspect(stranger, { depth: 9 }), JSON.stringify(stranger)])
      expect(shown).not.to.include('sssss');
  });
});

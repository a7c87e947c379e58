import { client } from './client/client.gen.js';
import * as foyer from './client/index.js';
import { filters, given, path, read, snapshotOf } from './shared.js';

client.setConfig({ baseUrl: given.url, auth: given.key });
const headers = { 'Service-API-Version': 'preview' };
const query = { perPage: 100 };

const first = await read(foyer.listTickets({ query: filters }));
const next = { ...filters, page: 2, snapshot: snapshotOf(first.nextPage) };
const second = await read(foyer.listTickets({ query: next }));
const events = await read(foyer.listEvents({ query }));
const sessions = await read(foyer.listEventSessions({ path }));
const orders = await read(foyer.listOrders({ query }));
const offers = await read(foyer.listOffers({ query, headers }));
const event = await read(foyer.getEvent({ path }));
const ticket = await read(foyer.getTicket({ path }));
const order = await read(foyer.getOrder({ path }));
const offer = await read(foyer.getOffer({ path, headers }));
const refused = await foyer.listTickets({ query: { 'updatedAt.gte': 'never' } });
const changes = await foyer.readChanges({ query: { collections: ['offers'] }, headers, parseAs: 'text' });
const lines = String(changes.data).trimEnd().split('\n');

console.log(
  JSON.stringify({
    pages: [events, sessions, first, second, orders, offers],
    records: [event, ticket, order, offer],
    values: [event.venueAddress?.city, offer.type === 'TICKET' && offer.inventory[0]?.availableStock],
    refused: refused.error?.errors?.[0]?.loc,
    changes: lines.map((line) => (JSON.parse(line) as foyer.ChangeLine).change),
  }),
);

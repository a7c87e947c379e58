import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';
import { filters, given, path, read, snapshotOf } from './shared.js';

const client = createClient<paths>({ baseUrl: given.url, headers: { Authorization: `Bearer ${given.key}` } });
const header = { 'Service-API-Version': 'preview' };
const query = { perPage: 100 };

const first = await read(client.GET('/v1/tickets', { params: { query: filters } }));
const next = { ...filters, page: 2, snapshot: snapshotOf(first.nextPage) };
const second = await read(client.GET('/v1/tickets', { params: { query: next } }));
const events = await read(client.GET('/v1/events', { params: { query } }));
const sessions = await read(client.GET('/v1/events/{event_id}/sessions', { params: { path } }));
const orders = await read(client.GET('/v1/orders', { params: { query } }));
const offers = await read(client.GET('/v1/catalog/offers', { params: { query, header } }));
const event = await read(client.GET('/v1/events/{event_id}', { params: { path } }));
const ticket = await read(client.GET('/v1/tickets/{ticket_id}', { params: { path } }));
const order = await read(client.GET('/v1/orders/{order_id}', { params: { path } }));
const offer = await read(client.GET('/v1/catalog/offers/{offerId}', { params: { path, header } }));
const refused = await client.GET('/v1/tickets', { params: { query: { 'updatedAt.gte': 'never' } } });
const changes = await read(
  client.GET('/v1/changes', { params: { query: { collections: ['offers'] }, header }, parseAs: 'text' }),
);
const lines = changes.trimEnd().split('\n');

console.log(
  JSON.stringify({
    pages: [events, sessions, first, second, orders, offers],
    records: [event, ticket, order, offer],
    values: [event.venueAddress?.city, offer.type === 'TICKET' && offer.inventory[0]?.availableStock],
    refused: refused.error?.errors?.[0]?.loc,
    changes: lines.map((line) => (JSON.parse(line) as components['schemas']['ChangeLine']).change),
  }),
);

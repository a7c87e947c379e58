import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const { url, key, eventIds, from, until } = JSON.parse(process.argv[2] ?? '') as {
  url: string;
  key: string;
  eventIds: string[];
  from: string;
  until: string;
};
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

const filters = { eventIds, 'updatedAt.gte': from, 'updatedAt.lte': until, perPage: 3 };
const first = await client.GET('/v1/tickets', { params: { query: filters } });
if (first.error) throw new Error(first.error.detail);
const snapshot = new URL(first.data?.nextPage ?? '').searchParams.get('snapshot') ?? '';
const second = await client.GET('/v1/tickets', { params: { query: { ...filters, page: 2, snapshot } } });
const tickets = [...(first.data?.items ?? []), ...(second.data?.items ?? [])].map((ticket) => [
  ticket.ticketId,
  ticket.finalPaidPrice,
]);

const offers: unknown[] = [];
for (const type of ['TICKET', 'PRODUCT', 'BUNDLE'] as const) {
  const { data } = await client.GET('/v1/catalog/offers', {
    params: { query: { type, perPage: 1 }, header: { 'Service-API-Version': 'preview' } },
  });
  for (const offer of data?.items ?? []) {
    if (offer.type === 'TICKET') offers.push(offer.inventory.map(({ availableStock }) => availableStock));
    else if (offer.type === 'PRODUCT') offers.push(offer.inventory.map(({ weightInGrams }) => weightInGrams));
    else offers.push(offer.contains.map(({ offerId }) => offerId));
  }
}

const refused = await client.GET('/v1/tickets', { params: { query: { page: 0 } } });
const violations = refused.error && 'errors' in refused.error ? refused.error.errors : [];

const changes = await client.GET('/v1/changes', {
  params: { query: { collections: ['offers'] }, header: { 'Service-API-Version': 'preview' } },
  parseAs: 'text',
});
const lines = (changes.data ?? '').trimEnd().split('\n');

console.log(
  JSON.stringify({
    tickets,
    offers,
    refused: violations.map(({ loc }) => loc),
    changes: lines.map((line) => (JSON.parse(line) as components['schemas']['Change']).change),
  }),
);

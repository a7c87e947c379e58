import { type Change, listOffers, listTickets, readChanges } from './client/index.js';
import { client } from './client/client.gen.js';

const { url, key, eventIds, from, until } = JSON.parse(process.argv[2] ?? '') as {
  url: string;
  key: string;
  eventIds: string[];
  from: string;
  until: string;
};
client.setConfig({ baseUrl: url, auth: key });

const filters = { eventIds, 'updatedAt.gte': from, 'updatedAt.lte': until, perPage: 3 };
const first = await listTickets({ query: filters, throwOnError: true });
const snapshot = new URL(first.data?.nextPage ?? '').searchParams.get('snapshot') ?? '';
const second = await listTickets({ query: { ...filters, page: 2, snapshot } });
const tickets = [...(first.data?.items ?? []), ...(second.data?.items ?? [])].map((ticket) => [
  ticket.ticketId,
  ticket.finalPaidPrice,
]);

const offers: unknown[] = [];
for (const type of ['TICKET', 'PRODUCT', 'BUNDLE'] as const) {
  const { data } = await listOffers({
    query: { type, perPage: 1 },
    headers: { 'Service-API-Version': 'preview' },
  });
  for (const offer of data?.items ?? []) {
    if (offer.type === 'TICKET') offers.push(offer.inventory.map(({ availableStock }) => availableStock));
    else if (offer.type === 'PRODUCT') offers.push(offer.inventory.map(({ weightInGrams }) => weightInGrams));
    else offers.push(offer.contains.map(({ offerId }) => offerId));
  }
}

const refused = await listTickets({ query: { page: 0 } });
const violations = refused.error && 'errors' in refused.error ? refused.error.errors : [];

const changes = await readChanges({
  query: { collections: ['offers'] },
  headers: { 'Service-API-Version': 'preview' },
  parseAs: 'text',
});
const lines = String(changes.data).trimEnd().split('\n');

console.log(
  JSON.stringify({
    tickets,
    offers,
    refused: violations.map(({ loc }) => loc),
    changes: lines.map((line) => (JSON.parse(line) as Change).change),
  }),
);

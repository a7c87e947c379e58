import type { components } from '../../client/src/generated/openapi.ts';
import { exampleOf, type Fields } from '../../src/contract/field.ts';
import type { CollectionName } from '../../src/contract/operations.ts';
import { EVENT, EVENT_SESSION, OFFER, ORDER, TICKET } from '../../src/contract/resources.ts';
import type { ImportRecord } from './import-folder.ts';

type Served = components['schemas'];

/** Makes a record of the examples of all imported fields, in the documented order, but for `changes`. */
function full<T>(fields: Fields, changes: Partial<T>): T {
  const imported = Object.entries(fields).filter(([, { derived }]) => !derived);
  return { ...exampleOf(Object.fromEntries(imported)), ...changes } as T;
}

/** A record of each resource as it is served: with every documented field, in the documented order. */

export const FULL_EVENT = full<Omit<Served['Event'], `${string}Session${string}` | 'sessionCount'>>(
  EVENT.variants[''],
  {
    id: 'evt full',
    createdAt: '2026-09-01T23:30:00.120Z',
    updatedAt: '2026-10-12T14:30:00Z',
    title: 'Ça va "bien"?\n',
    description: '<b>gras</b> \\ 🎭, and a half: \ud83c',
    venueName: '2026-01-01T00:00:00Z',
    eventTimezone: 'America/Argentina/Buenos_Aires',
    tags: ['  Théâtre  DE rue ', 'Jazz', 'jazz'],
  },
);

/** The imported form of the full event: its times have an offset, and one has no seconds. */
export const FULL_EVENT_IMPORTED = {
  ...FULL_EVENT,
  createdAt: '2026-09-02T01:30:00.120+02:00',
  updatedAt: '2026-10-12T09:30-05:00',
};

export const FULL_SESSION = full<Served['EventSession']>(EVENT_SESSION.variants[''], { id: 'ses/2' });

export const FULL_TICKET = full<Served['Ticket']>(TICKET.variants[''], {
  ticketId: 'tkt "1"',
  eventId: 'evt full',
  status: 'SOMETHING_ELSE',
  issuedAt: '2026-11-02T10:15:00.1234567+01:00',
  updatedAt: '2026-11-02T10:15:00-00:00',
  eventSessionId: 'ses/2',
  qrCode: 'Q7,F2 \0\u2028',
});

export const FULL_ORDER = full<Served['Order']>(ORDER.variants[''], { orderId: 'ord_5120' });
export const FULL_TICKET_OFFER = full<Served['TicketOffer']>(OFFER.variants['TICKET'], {
  offerId: 'off_7',
  type: 'TICKET',
  eventId: 'evt full',
});
export const FULL_PRODUCT_OFFER = full<Served['ProductOffer']>(OFFER.variants['PRODUCT'], {
  offerId: 'off_8',
  type: 'PRODUCT',
});
export const FULL_BUNDLE_OFFER = full<Served['BundleOffer']>(OFFER.variants['BUNDLE'], {
  offerId: 'off_9',
  type: 'BUNDLE',
});

/** The imported forms of these records. */
export const FULL_RECORDS: Readonly<Record<CollectionName, readonly ImportRecord[]>> = {
  events: [FULL_EVENT_IMPORTED],
  sessions: [{ ...FULL_SESSION, eventId: FULL_EVENT.id }],
  tickets: [{ ...FULL_TICKET, issuedAt: '20261102T101500,1234567+01', updatedAt: '2026-11-02T10:15-0000' }],
  orders: [FULL_ORDER],
  offers: [FULL_TICKET_OFFER, FULL_PRODUCT_OFFER, FULL_BUNDLE_OFFER],
};

/** Records with the required fields alone, and any others that the caller adds. */

export const minimalEvent = (id: string, more: ImportRecord = {}) => ({
  id,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  title: '',
  eventTimezone: 'Asia/Tokyo',
  currency: 'JPY',
  ...more,
});

export const minimalSession = (id: string, eventId: string, more: ImportRecord = {}) => ({
  eventId,
  id,
  startAt: '2027-01-01T20:00:00+09:00',
  durationMinutes: 0,
  ...more,
});

export const minimalTicket = (ticketId: string, more: ImportRecord = {}) => ({
  ticketId,
  eventId: 'e',
  status: 'FULFILLED',
  issuedAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  eventSessionId: 's',
  qrCode: 'q',
  orderId: 'o',
  currency: 'JPY',
  ...more,
});

export const minimalOrder = (orderId: string, more: ImportRecord = {}) => ({
  orderId,
  status: 'PENDING',
  currency: 'JPY',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  ...more,
});

export const minimalOffer = (offerId: string, type: string, more: ImportRecord = {}) => ({
  offerId,
  type,
  name: '',
  currency: 'JPY',
  minQuantityPerOrder: 0,
  maxQuantityPerOrder: 0,
  createdAt: '2026-01-01T00:00:00Z',
  ...(type === 'TICKET' && { eventId: 'e', vatRate: 0, defaultMaximumCapacity: 0 }),
  ...(type === 'PRODUCT' && { vatRate: 0, defaultQuantity: 0, variantOptionLabels: {} }),
  ...(type === 'BUNDLE' && { pricingId: '', price: 0 }),
  ...more,
});

export const minimalPricing = (pricingId: string, more: ImportRecord = {}) => ({
  pricingId,
  name: '',
  price: 0,
  resaleEnabled: false,
  ...more,
});

export const minimalStock = (sessionId: string, more: ImportRecord = {}) => ({
  inventoryId: '',
  sessionId,
  totalStock: 0,
  availableStock: 0,
  ...more,
});

export const inOrganization =
  (organizationId: string) =>
  (record: ImportRecord): ImportRecord => ({ organizationId, ...record });

/** Returns functions that make minimal records of an organization. */
export function recordsIn(organizationId: string) {
  const own =
    <Parameters extends unknown[]>(make: (...parameters: Parameters) => ImportRecord) =>
    (...parameters: Parameters): ImportRecord => ({ organizationId, ...make(...parameters) });
  return {
    event: own(minimalEvent),
    session: own(minimalSession),
    ticket: own(minimalTicket),
    order: own(minimalOrder),
    offer: own(minimalOffer),
  };
}

/** Makes values from the numbers 0 to `count - 1`. */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

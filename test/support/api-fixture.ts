import { KeyRing, type KeyRow } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeys } from '../../src/keys/keys-file.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { builtFrom, type Import } from './import-folder.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalPricing,
  minimalSession,
  minimalStock,
  minimalTicket,
  times,
} from './records.ts';
import { withFolder } from './temporary-folder.ts';

/** A small handwritten import folder with the records that the contract tests request. */

export const PRODUCED_AT = '2026-11-21T04:00:00.000Z';

/** An id with every kind of character that a path and a query must preserve. */
export const HARD_ID = 'évt 7/ä%2F+&?#"\\';

const event = (id: string, createdAt: string, tags: string[]) =>
  minimalEvent(id, {
    createdAt,
    updatedAt: '2026-11-01T10:00:00+01:00',
    title: `Event ${id}`,
    eventTimezone: 'Europe/Paris',
    currency: 'EUR',
    tags,
  });

const EVENTS = [
  event('evt_a', '2026-09-01T10:00:00+02:00', ['Théâtre', 'Hip  Hop']),
  event('evt_b', '2026-09-02T08:00:00Z', ['theatre']),
  event('evt_c', '2026-09-02T08:00:00.000001Z', []),
  event('evt_d', '2026-09-02T10:00:00+02:00', ['R&B']),
  event(HARD_ID, '2026-08-01T00:00:00Z', ['été, hiver']),
];

const session = (eventId: string, id: string, startAt: string) =>
  minimalSession(id, eventId, { startAt, durationMinutes: 90 });

const SESSIONS = [
  session('evt_a', 'ses_a2', '2027-02-01T20:00:00+01:00'),
  session('evt_a', 'ses_a1', '2027-01-01T20:00:00+01:00'),
  session('evt_b', 'ses_b1', '2026-01-01T20:00:00+01:00'),
  session('evt_c', 'ses_c1', '2027-01-01T19:00:00Z'),
  session('evt_d', 'ses_d1', '2027-01-15T20:00:00+01:00'),
  session('evt_d', 'ses_d2', '2027-03-01T20:00:00+01:00'),
  session(HARD_ID, 'ses_h1', '2027-05-01T20:00:00+02:00'),
];

export const TICKET_COUNT = 57;

const TICKETS = times(TICKET_COUNT, (i) =>
  minimalTicket(`tkt_${String(i).padStart(2, '0')}`, {
    eventId: i % 3 === 0 ? 'evt_b' : 'evt_a',
    issuedAt: `2026-10-${String(1 + (i % 28)).padStart(2, '0')}T10:00:00+02:00`,
    updatedAt: `2026-11-${String(1 + (i % 28)).padStart(2, '0')}T10:00:00+01:00`,
    eventSessionId: i % 3 === 0 ? 'ses_b1' : 'ses_a1',
    qrCode: `QR${i}`,
    orderId: `ord_${i % 5}`,
    finalPaidPrice: 0.1,
    currency: 'EUR',
  }),
);

const order = (orderId: string, createdAt: string, status: string) =>
  minimalOrder(orderId, {
    createdAt,
    updatedAt: createdAt,
    status,
    currency: 'EUR',
    customer: { customerId: `cus_${orderId}`, email: `${orderId}@example.org` },
    placedItems: [{ offerId: 'off_t', eventId: 'evt_a', quantity: 1 }],
  });

const ORDERS = [
  order('ord_0', '2026-10-01T10:00:00+02:00', 'PENDING'),
  order('ord_1', '2026-10-02T10:00:00+02:00', 'FULFILLED'),
  order('ord_2', '2026-10-03T10:00:00+02:00', 'CANCELLED'),
];

const pricing = (pricingId: string, resaleEnabled: boolean) =>
  minimalPricing(pricingId, { price: 10, resaleEnabled });
const inventory = (sessionId: string) =>
  minimalStock(sessionId, { inventoryId: `inv_${sessionId}`, totalStock: 9 });

const OFFERS = [
  minimalOffer('off_t', 'TICKET', {
    currency: 'EUR',
    createdAt: '2026-09-01T10:00:00+02:00',
    eventId: 'evt_a',
    pricing: [pricing('prc_yes', true), pricing('prc_no', false)],
    inventory: [inventory('ses_a1'), inventory('ses_a2')],
  }),
  minimalOffer('off_u', 'TICKET', {
    currency: 'EUR',
    createdAt: '2026-09-02T10:00:00+02:00',
    eventId: 'evt_b',
    pricing: [pricing('prc_u', false)],
    inventory: [inventory('ses_b1')],
  }),
  minimalOffer('off_p', 'PRODUCT', {
    currency: 'EUR',
    createdAt: '2026-09-03T10:00:00+02:00',
    heldByEventIds: ['evt_a'],
    pricing: [minimalPricing('prc_p', { price: 5, resaleEnabled: undefined })],
  }),
  minimalOffer('off_b', 'BUNDLE', {
    currency: 'EUR',
    createdAt: '2026-09-04T10:00:00+02:00',
    heldByEventIds: ['evt_a', 'evt_b'],
    pricingId: 'prc_b',
    price: 12,
    contains: [{ offerId: 'off_t', quantity: 1, price: 10 }],
  }),
];

const NORTH = { events: EVENTS, sessions: SESSIONS, tickets: TICKETS, orders: ORDERS, offers: OFFERS };

/** The other organization has records of the same ids, and some of its own. */
const SOUTH = {
  events: [
    event('evt_a', '2026-09-01T10:00:00+02:00', ['Salsa']),
    event('evt_south', '2026-09-05T10:00:00Z', []),
  ],
  sessions: [
    session('evt_a', 'ses_a1', '2027-01-01T20:00:00+01:00'),
    session('evt_south', 'ses_s', '2027-01-01T20:00:00+01:00'),
  ],
  tickets: [{ ...TICKETS[1], ticketId: 'tkt_south', qrCode: 'QR_SOUTH' }],
  orders: [order('ord_south', '2026-10-01T10:00:00+02:00', 'PENDING')],
  offers: [{ ...OFFERS[0], offerId: 'off_south' }],
};

const ofBoth = (collection: keyof typeof NORTH) => [
  ...NORTH[collection].map(inOrganization('north')),
  ...SOUTH[collection].map(inOrganization('south')),
];

const IMPORT: Import = {
  organizations: ['north', 'south', 'void'].map((id) => ({ organizationId: id, name: id })),
  ...byCollection(({ name }) => ofBoth(name)),
};

/** `void` has no records; `absent` has a key, but no snapshot. */
export const ORGANIZATIONS = ['north', 'south', 'void', 'absent'] as const;
export type OrganizationId = (typeof ORGANIZATIONS)[number];

export interface Fixture {
  readonly image: SnapshotImage;
  readonly keys: readonly KeyRow[];
  readonly ring: KeyRing;
  /** Authorization headers: of each organization's valid key, and of a revoked key of `north`. */
  readonly authorization: Readonly<Record<OrganizationId | 'revoked', string>>;
  readonly secrets: readonly string[];
}

let made: Promise<Fixture> | undefined;

/** The fixture, built once for all tests. */
export function fixture(): Promise<Fixture> {
  return (made ??= makeFixture());
}

function makeFixture(): Promise<Fixture> {
  return withFolder(async (inFolder) => {
    const options = { producedAt: new Date(PRODUCED_AT) };
    const { image } = await builtFrom(inFolder('import'), IMPORT, options);
    return { image, ...makeKeys(inFolder('keys.sqlite')) };
  });
}

function makeKeys(path: string): Omit<Fixture, 'image'> {
  const file = new KeysFile(path);
  const secrets: string[] = [];
  const create = (organizationId: string) => {
    const key = file.create(organizationId, 'test', new Date(PRODUCED_AT));
    secrets.push(key.secret);
    return { ...key, header: `Bearer svc:o:${organizationId}:${key.secret}` };
  };
  const revoked = create('north');
  file.revoke(revoked.keyId, new Date(PRODUCED_AT));
  const authorization = {
    north: create('north').header,
    south: create('south').header,
    void: create('void').header,
    absent: create('absent').header,
    revoked: revoked.header,
  };
  const keys = readKeys(path);
  return { keys, ring: new KeyRing(keys), authorization, secrets };
}

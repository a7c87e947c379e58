import type { Random } from '../../../scripts/sample/random.ts';
import type { Fields, Shape } from '../../../src/contract/field.ts';
import {
  EVENT,
  EVENT_SESSION,
  OFFER,
  OFFER_TYPES,
  ORDER,
  ORDER_STATUSES,
  TICKET,
} from '../../../src/contract/resources.ts';
import { type JsonObject, objectsIn } from '../../../src/snapshot/format/json-values.ts';
import { randomForm, randomInstant, write, writeServed } from './instants.ts';
import { randomRecord } from './random-record.ts';
import { randomEmail, randomIds, randomTag, randomText } from './texts.ts';

/** Random organizations as plain objects: the imported records, and the records that must be served. */

/** A record as it must be served, and the fields that differ in the import. */
export interface Entry<Served extends JsonObject = JsonObject, Imported extends JsonObject = JsonObject> {
  readonly record: Served;
  readonly imported: Imported;
}

type Texts<Name extends string> = Readonly<Record<Name, string>>;

/** An event without the fields derived from its sessions. */
export type Event = Texts<'id' | 'createdAt' | 'updatedAt'> & { readonly tags: readonly string[] };
export type Session = Texts<'id' | 'startAt'>;
export type Ticket = Texts<
  'ticketId' | 'eventId' | 'eventSessionId' | 'orderId' | 'qrCode' | 'issuedAt' | 'updatedAt'
>;
export type Order = Texts<'orderId' | 'createdAt' | 'updatedAt' | 'status'> & {
  readonly customer: { readonly email: string } | null;
  readonly placedItems: readonly { readonly eventId: string | null }[];
};
export type Offer = Texts<'offerId' | 'type' | 'createdAt'> & {
  readonly eventId?: string;
  readonly pricing?: readonly { readonly resaleEnabled?: boolean }[];
  readonly inventory?: readonly { readonly sessionId?: string }[];
};

export interface Organization {
  readonly organizationId: string;
  readonly events: readonly Entry<Event>[];
  readonly sessions: readonly Entry<Session, { readonly eventId: string }>[];
  readonly tickets: readonly Entry<Ticket>[];
  readonly orders: readonly Entry<Order>[];
  readonly offers: readonly Entry<Offer, { readonly heldByEventIds: readonly string[] }>[];
}

/** Pools of ids that organizations draw from, so that many share an id. */
type IdPools = ReturnType<typeof randomIdPools>;

export function randomIdPools(random: Random, size: number) {
  return {
    events: randomIds(random, size),
    sessions: randomIds(random, size * 5),
    tickets: randomIds(random, size * 12),
    orders: randomIds(random, size * 6),
    offers: randomIds(random, size * 4),
    qrCodes: randomIds(random, size),
  };
}

/** `share`: the part of the pools that the organization has. */
export function randomOrganization(
  random: Random,
  organizationId: string,
  pools: IdPools,
  share: number,
): Organization {
  const drawn = (ids: readonly string[]) => ids.filter(() => random.chance(share));
  const eventIds = drawn(pools.events);
  return {
    organizationId,
    events: eventIds.map((id) => randomEvent(random, id)),
    sessions: sessionsOf(random, eventIds, drawn(pools.sessions)),
    tickets: drawn(pools.tickets).map((ticketId) => randomTicket(random, ticketId, pools)),
    orders: drawn(pools.orders).map((orderId) => randomOrder(random, orderId, pools)),
    offers: drawn(pools.offers).map((offerId) => randomOffer(random, offerId, pools)),
  };
}

function randomEvent(random: Random, id: string): Entry<Event> {
  const [created, updated] = [randomInstant(random), randomInstant(random)];
  const [createdForm, updatedForm] = [randomForm(random, created), randomForm(random, updated)];
  const inUtc = (instant: bigint, form: typeof createdForm) => write(instant, { ...form, offset: 'Z' });
  return {
    record: {
      ...randomRecord(random, EVENT.variants['']),
      id,
      createdAt: inUtc(created, createdForm),
      updatedAt: inUtc(updated, updatedForm),
      tags: some(random, 4, () => randomTag(random)),
    },
    imported: { createdAt: write(created, createdForm), updatedAt: write(updated, updatedForm) },
  };
}

/** Gives every event a session, and a few events most of the others. */
function sessionsOf(
  random: Random,
  eventIds: readonly string[],
  ids: readonly string[],
): Organization['sessions'] {
  const busy = eventIds.slice(0, 4);
  return ids.slice(0, eventIds.length === 0 ? 0 : Infinity).map((id, i) => {
    const eventId = i < eventIds.length ? eventIds[i] : random.pick(random.chance(0.5) ? busy : eventIds);
    const startAt = writeServed(random, randomInstant(random));
    const served = startAt.replace('Z', '+00:00');
    return {
      record: { ...randomRecord(random, EVENT_SESSION.variants['']), id, startAt: served },
      imported: { eventId, startAt },
    };
  });
}

function randomTicket(random: Random, ticketId: string, pools: IdPools): Entry<Ticket> {
  const record = {
    ...randomRecord(random, TICKET.variants['']),
    ticketId,
    eventId: few(random, pools.events),
    eventSessionId: few(random, pools.sessions),
    orderId: few(random, pools.orders),
    qrCode: few(random, pools.qrCodes),
    issuedAt: writeServed(random, randomInstant(random)),
    updatedAt: writeServed(random, randomInstant(random)),
  };
  return { record, imported: {} };
}

const CUSTOMER_FIELDS = fieldsIn(ORDER.variants['']['customer'].shape);
const ITEM_FIELDS = fieldsIn(ORDER.variants['']['placedItems'].shape);

function fieldsIn(shape: Shape): Fields {
  if (shape.kind === 'object') return shape.fields;
  if (shape.kind === 'list') return fieldsIn(shape.items);
  throw new TypeError(`a ${shape.kind} has no fields`);
}

function randomOrder(random: Random, orderId: string, pools: IdPools): Entry<Order> {
  const record = {
    ...randomRecord(random, ORDER.variants['']),
    orderId,
    status: random.pick(ORDER_STATUSES),
    customer: random.chance(0.1)
      ? null
      : { ...randomRecord(random, CUSTOMER_FIELDS), email: randomEmail(random) },
    placedItems: some(random, 4, () => ({
      ...randomRecord(random, ITEM_FIELDS),
      eventId: random.chance(0.2) ? null : few(random, pools.events),
    })),
    createdAt: writeServed(random, randomInstant(random)),
    updatedAt: writeServed(random, randomInstant(random)),
  };
  return { record, imported: {} };
}

function randomOffer(random: Random, offerId: string, pools: IdPools): Organization['offers'][number] {
  const type = random.pick(OFFER_TYPES);
  const createdAt = writeServed(random, randomInstant(random));
  const fields = randomRecord(random, OFFER.variants[type]);
  const record = { ...fields, offerId, type, createdAt };
  const heldByEventIds = some(random, 4, () => few(random, pools.events));
  if (type !== 'TICKET') {
    // A product's pricing has no resaleEnabled, even if the import has one.
    const pricing =
      type === 'PRODUCT'
        ? { pricing: objectsIn(fields['pricing']).map((pricing) => ({ ...pricing, resaleEnabled: true })) }
        : {};
    return { record, imported: { heldByEventIds, ...pricing } };
  }
  const ticketOffer = {
    ...record,
    eventId: few(random, pools.events),
    pricing: some(random, 5, () => ({
      pricingId: randomText(random),
      name: randomText(random),
      price: random.below(100) / 4,
      bundleOfferId: null,
      resaleEnabled: random.chance(0.5),
    })),
    inventory: some(random, 5, () => ({
      inventoryId: randomText(random),
      sessionId: few(random, pools.sessions),
      totalStock: random.below(100),
      availableStock: random.below(100),
    })),
  };
  return { record: ticketOffer, imported: { heldByEventIds } };
}

/** Returns up to `most` values, possibly repeated. */
function some<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: random.between(0, most) }, make);
}

/** Returns a value, most often one of the first few, so that some have many records. */
function few<T>(random: Random, values: readonly T[]): T {
  return random.chance(0.6) ? values[random.below(Math.min(values.length, 8))] : random.pick(values);
}

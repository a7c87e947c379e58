import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import type { Event, Offer, Order, Organization, Session, Ticket } from './random-organization.ts';

/** The parameters of a query, by name. */
export type Values = ReadonlyMap<string, string>;

interface ExpectedPage {
  readonly totalRecords: number;
  readonly records: readonly unknown[];
}

/** An organization's records by the contract, in the simplest way: each query reads every record. */
export class Oracle {
  readonly #events: readonly { readonly event: Event; readonly sessions: readonly Session[] }[];
  readonly #tickets: readonly Ticket[];
  readonly #orders: readonly Order[];
  readonly #offers: readonly { readonly offer: Offer; readonly eventIds: readonly string[] }[];

  constructor({ events, sessions, tickets, orders, offers }: Organization) {
    const sessionsOf = (eventId: string) =>
      sessions.filter(({ imported }) => imported.eventId === eventId).map(({ record }) => record);
    this.#events = events
      .map(({ record }) => ({
        event: record,
        sessions: sessionsOf(record.id).sort(earliest(({ startAt, id }) => [startAt, id])),
      }))
      .sort(latest(({ event }) => [event.createdAt, event.id]));
    this.#tickets = tickets
      .map(({ record }) => record)
      .sort(latest(({ issuedAt, ticketId }) => [issuedAt, ticketId]));
    this.#orders = orders
      .map(({ record }) => record)
      .sort(latest(({ createdAt, orderId }) => [createdAt, orderId]));
    this.#offers = offers
      .map(({ record, imported }) => ({
        offer: record,
        eventIds: record.eventId === undefined ? imported.heldByEventIds : [record.eventId],
      }))
      .sort(earliest(({ offer }) => [offer.createdAt, offer.offerId]));
  }

  /** Returns a page of a list operation; undefined when the event of a session list is missing. */
  page(
    operation: string,
    values: Values,
    eventId: string | undefined,
    now: number,
  ): ExpectedPage | undefined {
    const found = this.#found(operation, values, eventId, now);
    if (found === undefined) return undefined;
    const perPage = BigInt(values.get('perPage') ?? 25);
    const start = (BigInt(values.get('page') ?? 1) - 1n) * perPage;
    const records = found.filter((_, i) => BigInt(i) >= start && BigInt(i) < start + perPage);
    return { totalRecords: found.length, records };
  }

  /** Returns a record; undefined when it is missing. */
  record(operation: string, id: string, now: number): unknown {
    const found = this.#events.find(({ event }) => event.id === id);
    if (operation === 'getEvent') return found && served(found.event, found.sessions, now);
    if (operation === 'getTicket') return this.#tickets.find(({ ticketId }) => ticketId === id);
    if (operation === 'getOrder') return this.#orders.find(({ orderId }) => orderId === id);
    if (operation === 'getOffer') return this.#offers.find(({ offer }) => offer.offerId === id)?.offer;
    throw new TypeError(`no oracle for ${operation}`);
  }

  #found(operation: string, values: Values, eventId: string | undefined, now: number) {
    if (operation === 'listEvents') return this.#listEvents(values, now);
    if (operation === 'listEventSessions') return this.#listSessions(values, eventId);
    if (operation === 'listTickets') return this.#listTickets(values);
    if (operation === 'listOrders') return this.#listOrders(values);
    if (operation === 'listOffers') return this.#listOffers(values);
    throw new TypeError(`no oracle for ${operation}`);
  }

  #listEvents(values: Values, now: number): unknown[] {
    const tags = values.get('tags')?.split(',').map(comparable);
    return this.#events
      .filter(
        ({ event, sessions }) =>
          (!['startAt.gte', 'startAt.lte'].some((name) => values.has(name)) ||
            sessions.some(({ startAt }) => inWindow(startAt, values, 'startAt'))) &&
          (tags === undefined || event.tags.some((tag) => tags.includes(comparable(tag)))),
      )
      .map(({ event, sessions }) => served(event, sessions, now));
  }

  #listSessions(values: Values, eventId: string | undefined): unknown[] | undefined {
    return this.#events
      .find(({ event }) => event.id === eventId)
      ?.sessions.filter(({ startAt }) => inWindow(startAt, values, 'startAt'));
  }

  #listTickets(values: Values): unknown[] {
    return this.#tickets.filter(
      ({ updatedAt, eventId, eventSessionId, qrCode, orderId }) =>
        inWindow(updatedAt, values, 'updatedAt') &&
        isListed(eventId, values.get('eventIds')) &&
        isListed(eventSessionId, values.get('sessionIds')) &&
        isListed(qrCode, values.get('qrCodes')) &&
        isListed(orderId, values.get('orderIds')),
    );
  }

  #listOrders(values: Values): unknown[] {
    const [eventIds, status, email] = ['eventIds', 'status', 'email'].map((name) => values.get(name));
    return this.#orders.filter(
      (order) =>
        inWindow(order.updatedAt, values, 'updatedAt') &&
        (eventIds === undefined ||
          order.placedItems.some(({ eventId }) => eventId !== null && isListed(eventId, eventIds))) &&
        (status === undefined || order.status === status) &&
        (email === undefined || order.customer?.email.toLowerCase() === email.toLowerCase()),
    );
  }

  #listOffers(values: Values): unknown[] {
    const [eventId, type, resale, sessionId] = ['eventId', 'type', 'resaleEnabled', 'sessionId'].map((name) =>
      values.get(name),
    );
    const matches = ({ resaleEnabled }: { readonly resaleEnabled?: boolean | null }) =>
      resale === undefined || resaleEnabled === (resale === 'true');
    return this.#offers
      .filter(
        ({ offer, eventIds }) =>
          inWindow(offer.createdAt, values, 'createdAt') &&
          (eventId === undefined || eventIds.includes(eventId)) &&
          (type === undefined || offer.type === type) &&
          (resale === undefined || (offer.type === 'TICKET' && offer.pricing?.some(matches))),
      )
      .map(({ offer }) => {
        if (offer.type !== 'TICKET') return offer;
        const inventory = offer.inventory?.filter(
          (stock) => sessionId === undefined || stock.sessionId === sessionId,
        );
        return { ...offer, pricing: offer.pricing?.filter(matches), inventory };
      });
  }
}

/**
 * Returns an event with the fields derived from its sessions, which are in ascending order. `now` is in milliseconds.
 */
function served(event: Event, sessions: readonly Session[], now: number): unknown {
  const next = sessions.find(({ startAt }) => instant(startAt) > BigInt(now) * 1000n);
  return {
    ...event,
    sessionCount: sessions.length,
    firstSessionStartAt: sessions[0].startAt,
    lastSessionStartAt: sessions[sessions.length - 1].startAt,
    nextSessionStartAt: next?.startAt ?? null,
    nextSessionId: next?.id ?? null,
  };
}

function inWindow(timestamp: string, values: Values, field: string): boolean {
  const at = instant(timestamp);
  const bound = (suffix: string, holds: (limit: bigint) => boolean) => {
    const limit = values.get(`${field}.${suffix}`);
    return limit === undefined || holds(instant(limit));
  };
  return (
    bound('gt', (limit) => at > limit) &&
    bound('gte', (limit) => at >= limit) &&
    bound('lt', (limit) => at < limit) &&
    bound('lte', (limit) => at <= limit)
  );
}

function isListed(value: string, list: string | undefined): boolean {
  return list === undefined || list.split(',').includes(value);
}

/** Returns the comparable form of a tag: equal for tags that match. */
function comparable(tag: string): string {
  const words = tag.normalize('NFC').replaceAll('ẞ', 'ß').toUpperCase().toLowerCase().split(/\s/u);
  return words
    .filter((word) => word !== '')
    .join(' ')
    .normalize('NFD');
}

type SortKey = readonly [timestamp: string, id: string];

function earliest<T>(keyOf: (value: T) => SortKey): (a: T, b: T) => number {
  return (a, b) => {
    const [[aTime, aId], [bTime, bId]] = [keyOf(a), keyOf(b)];
    return compare(instant(aTime), instant(bTime)) || compare(aId, bId);
  };
}

function latest<T>(keyOf: (value: T) => SortKey): (a: T, b: T) => number {
  return (a, b) => {
    const [[aTime, aId], [bTime, bId]] = [keyOf(a), keyOf(b)];
    return compare(instant(bTime), instant(aTime)) || compare(aId, bId);
  };
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const instants = new Map<string, bigint>();

function instant(timestamp: string): bigint {
  let known = instants.get(timestamp);
  if (known === undefined) {
    known = parseTimestamp(timestamp);
    if (known === undefined) throw new TypeError(`not a timestamp: ${timestamp}`);
    instants.set(timestamp, known);
  }
  return known;
}

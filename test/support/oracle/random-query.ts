import type { Random } from '../../../scripts/sample/random.ts';
import type { ListOperation, ListParameter, Parameter } from '../../../src/contract/operations.ts';
import { isList, splitList } from '../../../src/contract/parameter.ts';
import { OFFER_TYPES, ORDER_STATUSES } from '../../../src/contract/resources.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { floorDivide, randomInstant, writeAnyhow } from './instants.ts';
import { readValues } from './read-values.ts';
import type { Entry, Offer, Order, Organization, Session, Ticket } from './random-organization.ts';
import { randomEmail, randomTag, randomText } from './texts.ts';

/** A valid query. */
export interface RandomQuery {
  /** One text of each parameter. */
  readonly values: ReadonlyMap<string, string>;
  /** The same as a request may have it: some lists in parts, in the order of the names in `values`. */
  readonly parts: readonly (readonly [name: string, text: string])[];
  /** The event of a list of sessions. */
  readonly parentId: string | undefined;
}

export class QueryMaker {
  readonly #random: Random;
  readonly #organizations: readonly Organization[];

  /** Organizations that the values are drawn from, whichever is queried. */
  constructor(random: Random, organizations: readonly Organization[]) {
    this.#random = random;
    this.#organizations = organizations;
  }

  /** @param density share of the parameters; by default, sometimes few of them, sometimes all */
  query(
    operation: ListOperation,
    organization: Organization,
    density = this.#random.fraction(),
  ): RandomQuery {
    const { parameters, pathParameter } = operation;
    const random = this.#random;
    const hints = hintsOf(random, organization);
    const values = new Map<string, string>();
    const parts: [name: string, text: string][] = [];
    for (const parameter of parameters) {
      if (!random.chance(density)) continue;
      const text = this.#valueOf(parameter, hints);
      // Validation refuses an invalid value before the plan.
      if (readValues(operation, [[parameter.name, text]]) === undefined) continue;
      values.set(parameter.name, text);
      parts.push(...this.#partsOf(parameter, text).map((part): [string, string] => [parameter.name, part]));
    }
    return { values, parts, parentId: pathParameter && this.#parentId(organization) };
  }

  /** In milliseconds; usually near the start of a session. */
  now(organization: Organization): number {
    const random = this.#random;
    if (organization.sessions.length === 0 || random.chance(0.05)) {
      return random.pick([0, -1, Date.parse('2026-11-21T12:00:00Z'), -8.64e15, 8.64e15]);
    }
    const starts = parseTimestamp(random.pick(organization.sessions).record.startAt) ?? 0n;
    return Number(floorDivide(starts, 1000n)) + random.between(-1, 1);
  }

  #parentId(organization: Organization): string {
    const random = this.#random;
    const { events } = random.chance(0.9) ? organization : random.pick(this.#organizations);
    return events.length === 0 || random.chance(0.03) ? randomText(random) : random.pick(events).record.id;
  }

  #valueOf({ name, kind, role }: ListParameter, hints: Hints): string {
    const random = this.#random;
    switch (role.is) {
      case 'page':
        return random.chance(0.02)
          ? random.pick(['9'.repeat(400), '9007199254740993', '007'])
          : String(random.pick([1, 1, 2, 3, random.between(1, 40), random.between(1, 1000)]));
      case 'perPage':
        return String(random.pick([1, 2, 3, 7, 25, 100, random.between(1, 100)]));
      case 'contentDigest':
        // Valid in links only.
        return '';
      case 'bound':
        return writeAnyhow(random, randomInstant(random) + BigInt(random.between(-1, 1)));
      case 'inventoryOf':
        return this.#keyOf(name, hints);
      case 'pricingOf':
        return random.pick(['true', 'false']);
      case 'anyOf':
        return isList(kind) ? this.#list(name, hints) : this.#keyOf(name, hints);
    }
  }

  /** Cuts half of the lists between some elements. */
  #partsOf({ kind }: Parameter, text: string): string[] {
    const random = this.#random;
    if (!isList(kind) || random.chance(0.5)) return [text];
    const [first, ...others] = splitList(text);
    const parts = [first];
    for (const element of others) {
      if (random.chance(0.5)) parts.push(element);
      else parts.push(`${parts.pop() ?? ''},${element}`);
    }
    return parts;
  }

  #list(name: string, hints: Hints): string {
    const count = this.#random.pick([1, 1, 1, 2, 3, 10]);
    return Array.from({ length: count }, () => this.#keyOf(name, hints)).join();
  }

  /** Usually the values of one record for all parameters, so that their combination has a match. */
  #keyOf(name: string, hints: Hints): string {
    const random = this.#random;
    if (random.chance(0.03)) return randomText(random) || '-';
    const from = random.chance(0.65) ? hints : hintsOf(random, random.pick(this.#organizations));
    const candidates = from[name] ?? [];
    const value = candidates.length === 0 ? '-' : random.pick(candidates);
    if (name !== 'tags' && name !== 'email') return value;
    return random.chance(0.3) ? random.pick([value.toUpperCase(), value.toLowerCase()]) : value;
  }
}

/** Values with a match, by parameter. */
type Hints = Readonly<Record<string, readonly string[]>>;

function hintsOf(random: Random, { tickets, orders, offers, sessions, events }: Organization): Hints {
  const ticket = oneOf<Ticket>(random, tickets);
  const order = oneOf<Order>(random, orders);
  const offer = oneOf<Offer, { readonly heldByEventIds: readonly string[] }>(random, offers);
  const session = oneOf<Session>(random, sessions);
  const isOfTicket = random.chance(0.5);
  return {
    eventIds: isOfTicket
      ? present(ticket?.record.eventId)
      : (order?.record.placedItems.flatMap(({ eventId }) => present(eventId)) ?? []),
    sessionIds: present(ticket?.record.eventSessionId),
    qrCodes: present(ticket?.record.qrCode),
    orderIds: present(ticket?.record.orderId),
    status: [order?.record.status ?? random.pick(ORDER_STATUSES)],
    email: [order?.record.customer?.email ?? randomEmail(random)],
    tags: oneOf(random, events)?.record.tags ?? [randomTag(random)],
    type: [offer?.record.type ?? random.pick(OFFER_TYPES)],
    eventId: [...present(offer?.record.eventId), ...(offer?.imported.heldByEventIds ?? [])],
    sessionId: offer?.record.inventory?.flatMap(({ sessionId }) => present(sessionId)) ?? [
      session?.record.id ?? '-',
    ],
  };
}

function oneOf<Served, Imported = object>(
  random: Random,
  entries: readonly Entry<Served, Imported>[],
): Entry<Served, Imported> | undefined {
  return entries.length === 0 ? undefined : random.pick(entries);
}

function present(value: string | null | undefined): string[] {
  return value === null || value === undefined ? [] : [value];
}

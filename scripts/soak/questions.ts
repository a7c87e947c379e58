import type { CollectionName } from '../../src/contract/operations.ts';
import type { Random } from '../sample/random.ts';
import type { Content, StoredRecord } from './content.ts';
import type { Answer } from './soak-replica.ts';

/** Random requests, and the comparison of each response with the content of its snapshot. */

/** A list, and the records of its collection that it has. */
export interface List {
  /** Path and filters. */
  readonly target: string;
  readonly of: CollectionName;
  readonly has: (record: StoredRecord) => boolean;
}

/** One page of a list. */
export interface Page {
  readonly list: List;
  readonly page: number;
  readonly perPage: number;
}

const PATHS: Readonly<Partial<Record<CollectionName, string>>> = {
  events: '/v1/events',
  tickets: '/v1/tickets',
  orders: '/v1/orders',
  offers: '/v1/catalog/offers',
};
const WHOLE_LISTS = Object.keys(PATHS) as (keyof typeof PATHS)[];

/** Makes a list with random filters, whose values occur in the content. */
export function randomList(random: Random, content: Content): List {
  const ticket = random.pick(content.tickets).fields;
  const order = random.pick(content.orders).fields;
  switch (random.below(8)) {
    case 0: {
      const events = [random.pick(content.events).id, random.pick(content.events).id];
      return listOf('tickets', `eventIds=${events.join()}`, ({ eventId }) =>
        events.includes(String(eventId)),
      );
    }
    case 1:
      return listOf('tickets', `orderIds=${text(ticket['orderId'])}`, same('orderId', ticket));
    case 2: {
      const from = text(ticket['updatedAt']);
      const filter = `updatedAt.gte=${encodeURIComponent(from)}`;
      return listOf('tickets', filter, ({ updatedAt }) => instantOf(updatedAt) >= instantOf(from));
    }
    case 3:
      return listOf('orders', `status=${text(order['status'])}`, same('status', order));
    case 4:
      return listOf('offers', 'type=TICKET', ({ type }) => type === 'TICKET');
    case 5: {
      const { id } = random.pick(content.events);
      const target = `/v1/events/${id}/sessions`;
      return { target, of: 'sessions', has: ({ fields }) => fields['eventId'] === id };
    }
    default:
      return listOf(random.pick(WHOLE_LISTS));
  }
}

function listOf(
  of: CollectionName,
  filter?: string,
  has: (fields: StoredRecord['fields']) => boolean = () => true,
): List {
  const path = PATHS[of] ?? '';
  const target = filter === undefined ? path : `${path}?${filter}`;
  return { target, of, has: ({ fields }) => has(fields) };
}

const same = (field: string, of: StoredRecord['fields']) => (fields: StoredRecord['fields']) =>
  fields[field] === of[field];

const text = (value: unknown) => String(value);
const instantOf = (value: unknown) => Date.parse(text(value));

export function targetOf({ list: { target }, page, perPage }: Page): string {
  return `${target}${target.includes('?') ? '&' : '?'}page=${page}&perPage=${perPage}`;
}

/** Returns the records that a list has. */
export function recordsIn({ of, has }: List, content: Content): readonly StoredRecord[] {
  return content[of].filter(has);
}

/** Compares a page with the content of its snapshot. Returns the difference, if there is one. */
export function pageFault(
  { list, page, perPage }: Page,
  answer: Answer,
  content: Content,
): string | undefined {
  const records = recordsIn(list, content);
  const pages = Math.max(1, Math.ceil(records.length / perPage));
  // The parent of a list of sessions has at least one.
  const exists = list.of !== 'sessions' || records.length > 0;
  const status = exists ? (page > pages ? 204 : 200) : 404;
  if (answer.status !== status) return `${answer.status} instead of ${status}: ${answer.text.slice(0, 200)}`;
  if (status !== 200) return undefined;
  return itemsFault(list.of, answer.text, records.slice((page - 1) * perPage, page * perPage));
}

/** Compares the items of a body with records: those of events by their ids, all others byte by byte. */
export function itemsFault(
  of: CollectionName,
  body: string,
  records: readonly StoredRecord[],
): string | undefined {
  if (of === 'events') {
    const { items } = JSON.parse(body) as { items: { id: string }[] };
    const [ids, expected] = [items.map(({ id }) => id).join(), records.map(({ id }) => id).join()];
    return ids === expected ? undefined : `events ${ids} instead of ${expected}`;
  }
  const items = `{"items":[${records.map((record) => record.text).join()}],`;
  return body.startsWith(items) ? undefined : `not the ${records.length} ${of} of its snapshot`;
}

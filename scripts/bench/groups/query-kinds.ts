import {
  type CollectionName,
  type ListOperation,
  OPERATIONS,
  pathWith,
} from '../../../src/contract/operations.ts';
import { PREVIEW, VERSION_HEADER } from '../../../src/contract/releases.ts';
import type { Random } from '../../sample/random.ts';
import type { SampleRecord } from '../snapshot-content.ts';

/**
 * Returns query parameters that select a record; undefined when the record lacks a value.
 * @param random chooses the windows and the ten events
 * @param isNeighbour narrows the windows and the ten events a little: the page count of that query gives the depth of a
 *   deep page, and the replica does not see the query itself before it is timed
 */
type Filter = (
  record: SampleRecord,
  random: Random,
  isNeighbour: boolean,
  eventIds: readonly string[],
) => string | undefined;

/** A kind of query whose response time must not depend on the number of records. */
export interface QueryKind {
  readonly name: string;
  readonly collection: CollectionName;
  /** Returns the path of a query, without its page; undefined like a filter. */
  readonly pathOf: Filter;
  /** Requests a page near the end instead of the first. */
  readonly isDeep: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const DAY_MS = 24 * 3_600_000;
const SECOND_MS = 1000;
const MAX_DAYS = 120;
const PER_PAGE = 25;

/** The filters of all lists by their parameters, and two special cases of them. */
const FILTERS: Readonly<Record<string, Filter>> = {
  updatedAt: window('updatedAt', 'updatedAt'),
  'updatedAt of a day': window('updatedAt', 'updatedAt', 1),
  createdAt: window('createdAt', 'createdAt'),
  startAt: window('startAt', 'firstSessionStartAt'),
  eventIds: equal('eventIds', ({ eventId, placedItems }) => eventId ?? firstOf(placedItems)?.['eventId']),
  'ten eventIds': (_record, random, isNeighbour, eventIds) => {
    const remaining = [...eventIds];
    const ten = Array.from({ length: isNeighbour ? 9 : 10 }, () =>
      remaining.splice(random.below(remaining.length), 1),
    );
    return `eventIds=${ten.flat().map(encodeURIComponent).join(',')}`;
  },
  sessionIds: equal('sessionIds', ({ eventSessionId }) => eventSessionId),
  qrCodes: equal('qrCodes', ({ qrCode }) => qrCode),
  orderIds: equal('orderIds', ({ orderId }) => orderId),
  status: equal('status', ({ status }) => status),
  email: equal('email', ({ customer }) => (customer as SampleRecord | null)?.['email']),
  tags: equal('tags', ({ tags }) => (tags as readonly string[])[0]),
  eventId: equal('eventId', ({ eventId }) => eventId),
  type: equal('type', ({ type }) => type),
  resaleEnabled: equal('resaleEnabled', ({ pricing }) => firstOf(pricing)?.['resaleEnabled']),
  sessionId: equal('sessionId', ({ inventory }) => firstOf(inventory)?.['sessionId']),
};

/** Combinations of filters for deep pages of tickets, and those of orders in addition. */
const DEEP = [
  ['updatedAt'],
  ['eventIds'],
  ['ten eventIds'],
  ['updatedAt', 'eventIds'],
  ['updatedAt', 'ten eventIds'],
];
const DEEP_ORDERS = [['status'], ['status', 'eventIds'], ['status', 'ten eventIds']];
const WIDE = [['updatedAt of a day'], ['updatedAt of a day', 'ten eventIds']];

/** One record of each collection, each filter alone, each pair of filters, and deep and wide queries. */
export const QUERY_KINDS: readonly QueryKind[] = OPERATIONS.flatMap((operation): QueryKind[] => {
  if (operation.kind === 'changes' || operation.collection === 'sessions') return [];
  const { collection, path } = operation;
  const headers: QueryKind['headers'] = collection === 'offers' ? { [VERSION_HEADER]: PREVIEW } : {};
  if (operation.kind === 'retrieve') {
    const pathOf: Filter = (record) => pathWith(operation, String(Object.values(record)[0]));
    return [{ name: `${collection}, one by id`, collection, headers, isDeep: false, pathOf }];
  }
  const list = (filters: readonly string[], isDeep: boolean): QueryKind => ({
    name: `${collection}${filters.length > 0 ? ` by ${filters.join(' and ')}` : ''}${isDeep ? ', a deep page' : ''}`,
    collection,
    headers,
    isDeep,
    pathOf: (...args) => {
      const conditions = filters.map((name) => FILTERS[name](...args));
      if (conditions.includes(undefined)) return undefined;
      return `${path}?${[...conditions, `perPage=${PER_PAGE}`].join('&')}`;
    },
  });
  const names = filterNames(operation);
  const pairs = names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b]));
  const isLarge = collection === 'tickets' || collection === 'orders';
  const deep = [...(isLarge ? DEEP : []), ...(collection === 'orders' ? DEEP_ORDERS : [])];
  return [
    ...[[], ...names.map((name) => [name]), ...pairs, ...(isLarge ? WIDE : [])].map((some) =>
      list(some, false),
    ),
    ...[[], ...deep].map((some) => list(some, true)),
  ];
});

/** Returns the filters of a list: the names of its parameters, without bounds. */
function filterNames({ parameters }: ListOperation): string[] {
  const filters = parameters.filter(({ role }) => !['page', 'perPage', 'contentDigest'].includes(role.is));
  return [...new Set(filters.map(({ name }) => name.split('.')[0]))];
}

function equal(parameter: string, valueOf: (record: SampleRecord) => unknown): Filter {
  return (record) => {
    const value = valueOf(record);
    const isPresent = typeof value === 'string' ? value !== '' : typeof value === 'boolean';
    return isPresent ? `${parameter}=${encodeURIComponent(String(value))}` : undefined;
  };
}

/** Returns a window that extends up to `maxDays` before and after the record's instant. */
function window(parameter: string, field: string, maxDays = MAX_DAYS): Filter {
  return (record, random, isNeighbour) => {
    const at = Date.parse(String(record[field]));
    const span = () => Math.round(random.fraction() * maxDays * DAY_MS);
    const from = new Date(at - span() + (isNeighbour ? SECOND_MS : 0));
    const to = new Date(at + span());
    return `${parameter}.gte=${from.toISOString()}&${parameter}.lte=${to.toISOString()}`;
  };
}

function firstOf(list: unknown): SampleRecord | undefined {
  return Array.isArray(list) ? (list[0] as SampleRecord | undefined) : undefined;
}

import { type CollectionName, OPERATIONS } from '../../../src/contract/operations.ts';
import { PREVIEW, VERSION_HEADER } from '../../../src/contract/releases.ts';
import { RESOURCES } from '../../../src/contract/resources.ts';
import type { Random } from '../../sample/random.ts';
import type { SampleRecord } from '../snapshot-content.ts';

/** A kind of query whose response time must not depend on the number of records. */
export interface QueryKind {
  readonly name: string;
  readonly collection: CollectionName;
  /**
   * Returns the path of a query that selects a record, without its page; undefined when the record lacks a value.
   * @param random chooses the windows and the ten events
   * @param isNeighbour narrows the windows and the ten events a little: the page count of that query gives the depth of a deep
   *   page, and the replica does not see the query itself before it is timed
   */
  readonly pathOf: (record: SampleRecord, random: Random, isNeighbour: boolean) => string | undefined;
  /** Requests a page near the end instead of the first. */
  readonly isDeep: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns query parameters that select a record. */
type Filter = QueryKind['pathOf'];

const DAY_MS = 24 * 3_600_000;
const SECOND_MS = 1000;
const MAX_DAYS = 120;
const PER_PAGE = 25;
const PREVIEW_ONLY = { [VERSION_HEADER]: PREVIEW };

/** Filters of each collection's list. */
const FILTERS: Readonly<Record<CollectionName, Readonly<Record<string, Filter>>>> = {
  tickets: {
    updatedAt: window('updatedAt', MAX_DAYS),
    eventIds: equal('eventIds', ({ eventId }) => eventId),
    sessionIds: equal('sessionIds', ({ eventSessionId }) => eventSessionId),
    qrCodes: equal('qrCodes', ({ qrCode }) => qrCode),
    orderIds: equal('orderIds', ({ orderId }) => orderId),
  },
  orders: {
    updatedAt: window('updatedAt', MAX_DAYS),
    eventIds: equal('eventIds', ({ placedItems }) => fieldOfFirst(placedItems, 'eventId')),
    status: equal('status', ({ status }) => status),
    email: equal('email', ({ customer }) => (customer as SampleRecord | null)?.['email']),
  },
  events: {
    startAt: window('firstSessionStartAt', MAX_DAYS, 'startAt'),
    tags: equal('tags', ({ tags }) => first(tags)),
  },
  sessions: {},
  offers: {
    createdAt: window('createdAt', MAX_DAYS),
    eventId: equal('eventId', ({ eventId }) => eventId),
    type: equal('type', ({ type }) => type),
    resaleEnabled: equal('resaleEnabled', ({ pricing }) => fieldOfFirst(pricing, 'resaleEnabled')),
    sessionId: equal('sessionId', ({ inventory }) => fieldOfFirst(inventory, 'sessionId')),
  },
};

/** Returns one record of each collection, each filter alone, each pair of filters, and deep and wide queries. */
export function queryKinds(eventIds: readonly string[]): QueryKind[] {
  const tenEvents: Filter = (_, random, isNeighbour) => {
    const remaining = [...eventIds];
    const events = Array.from({ length: isNeighbour ? 9 : 10 }, () =>
      remaining.splice(random.below(remaining.length), 1),
    );
    return `eventIds=${events.flat().map(encodeURIComponent).join(',')}`;
  };
  const aDay = { 'updatedAt of a day': window('updatedAt', 1) };
  const ten = { 'ten eventIds': tenEvents };
  return (['tickets', 'orders', 'events', 'offers'] as const).flatMap((collection) => {
    const filters = FILTERS[collection];
    const names = Object.keys(filters);
    const pairs = names.flatMap((a, i) =>
      names.slice(i + 1).map((b) => ({ [a]: filters[a], [b]: filters[b] })),
    );
    const list = (chosen: Readonly<Record<string, Filter>>, isDeep = false) =>
      listKind(collection, chosen, isDeep);
    const kinds = [
      recordKind(collection),
      list({}),
      list({}, true),
      ...names.map((name) => list({ [name]: filters[name] })),
      ...pairs.map((pair) => list(pair)),
    ];
    if (collection === 'tickets' || collection === 'orders') {
      const { updatedAt, eventIds } = filters;
      const deep = [{ updatedAt }, { eventIds }, ten, { updatedAt, eventIds }, { updatedAt, ...ten }];
      kinds.push(list(aDay), list({ ...aDay, ...ten }), ...deep.map((chosen) => list(chosen, true)));
    }
    if (collection === 'orders') {
      const { status, eventIds } = filters;
      kinds.push(list({ status }, true), list({ status, eventIds }, true), list({ status, ...ten }, true));
    }
    return kinds;
  });
}

function listKind(
  collection: CollectionName,
  filters: Readonly<Record<string, Filter>>,
  isDeep: boolean,
): QueryKind {
  const { path } = operationOf(collection, 'list');
  const by = Object.keys(filters).join(' and ');
  return {
    name: `${collection}${by && ` by ${by}`}${isDeep ? ', a deep page' : ''}`,
    collection,
    isDeep,
    headers: headersOf(collection),
    pathOf: (record, random, isNeighbour) => {
      const conditions = Object.values(filters).map((filter) => filter(record, random, isNeighbour));
      if (conditions.includes(undefined)) return undefined;
      return `${path}?${[...conditions, `perPage=${PER_PAGE}`].join('&')}`;
    },
  };
}

function recordKind(collection: CollectionName): QueryKind {
  const { path } = operationOf(collection, 'retrieve');
  return {
    name: `${collection}, one by id`,
    collection,
    isDeep: false,
    headers: headersOf(collection),
    pathOf: (record) => path.replace(/\{.*\}/, encodeURIComponent(String(record[RESOURCES[collection].id]))),
  };
}

function operationOf(collection: CollectionName, kind: 'list' | 'retrieve') {
  const operation = OPERATIONS.filter((candidate) => candidate.kind !== 'changes').find(
    (candidate) => candidate.collection === collection && candidate.kind === kind,
  );
  if (operation === undefined) throw new TypeError(`no operation to ${kind} ${collection}`);
  return operation;
}

function headersOf(collection: CollectionName): Readonly<Record<string, string>> {
  return collection === 'offers' ? PREVIEW_ONLY : {};
}

function equal(parameter: string, valueOf: (record: SampleRecord) => unknown): Filter {
  return (record) => {
    const value = valueOf(record);
    const isPresent = typeof value === 'string' ? value !== '' : typeof value === 'boolean';
    return isPresent ? `${parameter}=${encodeURIComponent(String(value))}` : undefined;
  };
}

/** Returns a window that extends up to `maxDays` before and after the record's instant. */
function window(field: string, maxDays: number, parameter = field): Filter {
  return (record, random, isNeighbour) => {
    const at = Date.parse(String(record[field]));
    const from = new Date(
      at - Math.round(random.fraction() * maxDays * DAY_MS) + (isNeighbour ? SECOND_MS : 0),
    );
    const to = new Date(at + Math.round(random.fraction() * maxDays * DAY_MS));
    return `${parameter}.gte=${from.toISOString()}&${parameter}.lte=${to.toISOString()}`;
  };
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

function fieldOfFirst(list: unknown, field: string): unknown {
  return (first(list) as SampleRecord | undefined)?.[field];
}

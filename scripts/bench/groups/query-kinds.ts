import { type CollectionName, OPERATIONS } from '../../../src/contract/operations.ts';
import { PREVIEW, VERSION_HEADER } from '../../../src/contract/releases.ts';
import type { Random } from '../../sample/random.ts';
import type { SampleRecord } from '../snapshot-content.ts';

/** The kinds of query whose time must not depend on how much data there is. */

export interface QueryKind {
  readonly name: string;
  readonly collection: CollectionName;
  /**
   * What is asked, with a query that a page may follow, of which a record is an answer; undefined when the record has
   * nothing to ask by.
   * @param random decides the windows and the ten events
   * @param isNearly another query that selects nearly the same, and at least nothing beyond the last page of it:
   *   how many pages there are can be learned by it without a look at what is asked for later
   */
  readonly pathOf: (record: SampleRecord, random: Random, isNearly: boolean) => string | undefined;
  /** A page near the end is asked for, else the first. */
  readonly isDeep: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes a condition that a record fulfils. */
type Filter = (record: SampleRecord, random: Random, isNearly: boolean) => string | undefined;

const DAY_MS = 24 * 3_600_000;
const SECOND_MS = 1000;
const MOST_DAYS = 120;
const PER_PAGE = 25;
const PREVIEW_ONLY = { [VERSION_HEADER]: PREVIEW };

/** For each collection the filters of its list. */
const FILTERS: Readonly<Record<CollectionName, Readonly<Record<string, Filter>>>> = {
  tickets: {
    updatedAt: window('updatedAt', MOST_DAYS),
    eventIds: equal('eventIds', ({ eventId }) => eventId),
    sessionIds: equal('sessionIds', ({ eventSessionId }) => eventSessionId),
    qrCodes: equal('qrCodes', ({ qrCode }) => qrCode),
    orderIds: equal('orderIds', ({ orderId }) => orderId),
  },
  orders: {
    updatedAt: window('updatedAt', MOST_DAYS),
    eventIds: equal('eventIds', ({ placedItems }) => fieldOfFirst(placedItems, 'eventId')),
    status: equal('status', ({ status }) => status),
    email: equal('email', ({ customer }) => (customer as SampleRecord | null)?.['email']),
  },
  events: {
    startAt: window('firstSessionStartAt', MOST_DAYS, 'startAt'),
    tags: equal('tags', ({ tags }) => first(tags)),
  },
  sessions: {},
  offers: {
    createdAt: window('createdAt', MOST_DAYS),
    eventId: equal('eventId', ({ eventId }) => eventId),
    type: equal('type', ({ type }) => type),
    resaleEnabled: equal('resaleEnabled', ({ pricing }) => fieldOfFirst(pricing, 'resaleEnabled')),
    sessionId: equal('sessionId', ({ inventory }) => fieldOfFirst(inventory, 'sessionId')),
  },
};

/** Each filter alone, each pair of them, and what makes a query deep or wide; and one record of each collection. */
export function queryKinds(eventIds: readonly string[]): QueryKind[] {
  const tenEvents: Filter = (_, random, isNearly) => {
    const left = [...eventIds];
    const events = Array.from({ length: isNearly ? 9 : 10 }, () => left.splice(random.below(left.length), 1));
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
    const list = (of: Readonly<Record<string, Filter>>, isDeep = false) => listKind(collection, of, isDeep);
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
      kinds.push(list(aDay), list({ ...aDay, ...ten }), ...deep.map((of) => list(of, true)));
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
    pathOf: (record, random, isNearly) => {
      const conditions = Object.values(filters).map((filter) => filter(record, random, isNearly));
      if (conditions.includes(undefined)) return undefined;
      return `${path}?${[...conditions, `perPage=${PER_PAGE}`].join('&')}`;
    },
  };
}

function recordKind(collection: CollectionName): QueryKind {
  const { path, resource } = operationOf(collection, 'retrieve');
  return {
    name: `${collection}, one by id`,
    collection,
    isDeep: false,
    headers: headersOf(collection),
    pathOf: (record) => path.replace(/\{.*\}/, encodeURIComponent(String(record[resource.id]))),
  };
}

function operationOf(collection: CollectionName, kind: 'list' | 'retrieve') {
  const operation = OPERATIONS.find((one) => one.collection === collection && one.kind === kind);
  if (operation === undefined) throw new TypeError(`no operation to ${kind} ${collection}`);
  return operation;
}

function headersOf(collection: CollectionName): Readonly<Record<string, string>> {
  return collection === 'offers' ? PREVIEW_ONLY : {};
}

function equal(parameter: string, valueOf: (record: SampleRecord) => unknown): Filter {
  return (record) => {
    const value = valueOf(record);
    const isThere = typeof value === 'string' ? value !== '' : typeof value === 'boolean';
    return isThere ? `${parameter}=${encodeURIComponent(String(value))}` : undefined;
  };
}

/** A window around the record's instant that reaches up to so many days to both sides. */
function window(field: string, mostDays: number, parameter = field): Filter {
  return (record, random, isNearly) => {
    const at = Date.parse(String(record[field]));
    const from = new Date(
      at - Math.round(random.fraction() * mostDays * DAY_MS) + (isNearly ? SECOND_MS : 0),
    );
    const to = new Date(at + Math.round(random.fraction() * mostDays * DAY_MS));
    return `${parameter}.gte=${from.toISOString()}&${parameter}.lte=${to.toISOString()}`;
  };
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}

function fieldOfFirst(list: unknown, field: string): unknown {
  return (first(list) as SampleRecord | undefined)?.[field];
}

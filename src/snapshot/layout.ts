import type { CollectionName } from '../contract/operations.ts';
import { normalizeEmail, normalizeTag } from '../contract/parameter.ts';
import { EVENT, EVENT_SESSION, OFFER, ORDER, TICKET } from '../contract/resources.ts';
import type { Resource } from '../contract/field.ts';
import { objectIn, objectsIn, textIn, textsIn } from './json-values.ts';
import type { JsonObject } from './json-values.ts';

/**
 * Where the collections lie in a snapshot file, and what the columns beside `record` hold. The builder fills the
 * file by it, the loader reads it by it. The tables themselves are declared in `data/schema.sql`.
 */

/** A record in the form that is stored, with the fields of the import that are not served (`heldByEventIds`). */
export interface ImportedRecord {
  readonly served: JsonObject;
  readonly imported: JsonObject;
}

/**
 * What the keys of an index are: ids of the records of a table, a few words, of every row its own, or any. By this it is
 * reckoned how many there are; what an index finds does not depend on it.
 */
export type KeysOf = 'events' | 'sessions' | 'orders' | 'few' | 'own' | 'any';

export interface CollectionLayout {
  readonly name: CollectionName;
  readonly resource: Resource;
  readonly table: string;
  readonly idColumn: string;
  /** The timestamp that the list is ordered by. */
  readonly orderedBy: { readonly field: string; readonly descending: boolean };
  /** Columns of text with one value a record, indexed under the name given. */
  readonly keys: readonly {
    index: string;
    column: string;
    keysOf: KeysOf;
    of: (record: ImportedRecord) => string;
  }[];
  /** Columns with the instant of a timestamp of the record, indexed under its name. */
  readonly instants: readonly { index: string; column: string }[];
  /** Tables with any number of values a record, indexed under the name given. */
  readonly relations: readonly Relation[];
  /**
   * Pairs of indexes that may both have long lists, to find what lies in both without walking either. The second is
   * one of `keys`: every record has one value of it.
   */
  readonly composites: readonly (readonly [first: string, second: string])[];
}

export interface Relation {
  readonly index: string;
  readonly table: string;
  readonly rowColumn: string;
  readonly column: string;
  readonly keysOf: KeysOf;
  readonly of: (record: ImportedRecord) => readonly string[];
}

export const EVENTS: CollectionLayout = {
  name: 'events',
  resource: EVENT,
  table: 'events',
  idColumn: 'event_id',
  orderedBy: { field: 'createdAt', descending: true },
  keys: [],
  instants: [],
  relations: [
    {
      index: 'tag',
      table: 'event_tags',
      rowColumn: 'event_row',
      column: 'tag',
      keysOf: 'any',
      of: ({ served }) => textsIn(served['tags']).map(normalizeTag),
    },
  ],
  composites: [],
};

export const SESSIONS: CollectionLayout = {
  name: 'sessions',
  resource: EVENT_SESSION,
  table: 'sessions',
  idColumn: 'session_id',
  orderedBy: { field: 'startAt', descending: false },
  keys: [],
  instants: [],
  relations: [],
  composites: [],
};

export const TICKETS: CollectionLayout = {
  name: 'tickets',
  resource: TICKET,
  table: 'tickets',
  idColumn: 'ticket_id',
  orderedBy: { field: 'issuedAt', descending: true },
  keys: [
    { index: 'eventId', column: 'event_id', keysOf: 'events', of: ({ served }) => textIn(served['eventId']) },
    {
      index: 'eventSessionId',
      column: 'event_session_id',
      keysOf: 'sessions',
      of: ({ served }) => textIn(served['eventSessionId']),
    },
    { index: 'orderId', column: 'order_id', keysOf: 'orders', of: ({ served }) => textIn(served['orderId']) },
    { index: 'qrCode', column: 'qr_code', keysOf: 'own', of: ({ served }) => textIn(served['qrCode']) },
  ],
  instants: [{ index: 'updatedAt', column: 'updated_at' }],
  relations: [],
  composites: [['eventId', 'eventSessionId']],
};

export const ORDERS: CollectionLayout = {
  name: 'orders',
  resource: ORDER,
  table: 'orders',
  idColumn: 'order_id',
  orderedBy: { field: 'createdAt', descending: true },
  keys: [
    { index: 'status', column: 'status', keysOf: 'few', of: ({ served }) => textIn(served['status']) },
    {
      index: 'email',
      column: 'email',
      keysOf: 'any',
      of: ({ served }) => normalizeEmail(textIn(objectIn(served['customer'])?.['email'])),
    },
  ],
  instants: [{ index: 'updatedAt', column: 'updated_at' }],
  relations: [
    {
      index: 'eventId',
      table: 'order_events',
      rowColumn: 'order_row',
      column: 'event_id',
      keysOf: 'events',
      of: ({ served }) =>
        objectsIn(served['placedItems']).flatMap(({ eventId }) =>
          typeof eventId === 'string' ? [eventId] : [],
        ),
    },
  ],
  composites: [['eventId', 'status']],
};

export const OFFERS: CollectionLayout = {
  name: 'offers',
  resource: OFFER,
  table: 'offers',
  idColumn: 'offer_id',
  orderedBy: { field: 'createdAt', descending: false },
  keys: [{ index: 'type', column: 'type', keysOf: 'few', of: ({ served }) => textIn(served['type']) }],
  instants: [{ index: 'createdAt', column: 'created_at' }],
  relations: [
    {
      index: 'eventId',
      table: 'offer_events',
      rowColumn: 'offer_row',
      column: 'event_id',
      keysOf: 'events',
      of: ({ served, imported }) =>
        served['type'] === 'TICKET' ? [textIn(served['eventId'])] : textsIn(imported['heldByEventIds']),
    },
    {
      index: 'resaleEnabled',
      table: 'offer_resales',
      rowColumn: 'offer_row',
      column: 'resale_enabled',
      keysOf: 'few',
      of: ({ served }) =>
        served['type'] === 'TICKET'
          ? objectsIn(served['pricing']).flatMap(({ resaleEnabled }) =>
              typeof resaleEnabled === 'boolean' ? [String(resaleEnabled)] : [],
            )
          : [],
    },
  ],
  composites: [['resaleEnabled', 'type']],
};

/** In the order in which they are imported: events before the sessions that name them. */
export const COLLECTIONS: readonly CollectionLayout[] = [EVENTS, SESSIONS, TICKETS, ORDERS, OFFERS];

/** What `make` makes of each collection, by its name. */
export function byCollection<T>(make: (layout: CollectionLayout) => T): Record<CollectionName, T> {
  return {
    events: make(EVENTS),
    sessions: make(SESSIONS),
    tickets: make(TICKETS),
    orders: make(ORDERS),
    offers: make(OFFERS),
  };
}

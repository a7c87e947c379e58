import type { Resource } from '../../contract/field.ts';
import type { CollectionName } from '../../contract/operations.ts';
import { normalizeEmail, normalizeTag } from '../../contract/parameter.ts';
import { EVENT, EVENT_SESSION, OFFER, ORDER, TICKET } from '../../contract/resources.ts';
import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from './json-values.ts';

/**
 * Where the collections stand in a snapshot file, and what their columns hold. The builder fills the columns, and the
 * loader indexes them. The tables are declared in `data/schema.sql`.
 */

/** A record in its stored form, with the fields of the import that are not served (`heldByEventIds`). */
export interface ImportedRecord {
  readonly served: JsonObject;
  readonly imported: JsonObject;
}

export interface CollectionLayout {
  readonly name: CollectionName;
  readonly resource: Resource;
  /** The table of its runs. */
  readonly table: string;
  /** The timestamp that the list is ordered by. */
  readonly orderedBy: { readonly field: string; readonly descending: boolean };
  /** The columns of the run table beside the records. */
  readonly columns: readonly ColumnLayout[];
  /**
   * Pairs of indexes that may both have long lists: records with a key of both are found by an index of the pairs.
   * The second is of a text column: every record has one key in it.
   */
  readonly composites: readonly (readonly [first: string, second: string])[];
}

/** A column of a run table: one value for each record, and the name of the index over them. */
export type ColumnLayout = TextColumn | InstantColumn | ListColumn;

interface Column {
  readonly column: string;
  readonly index: string;
}

export interface TextColumn extends Column {
  readonly holds: 'text';
  readonly of: (record: ImportedRecord) => string;
}

export interface InstantColumn extends Column {
  readonly holds: 'instant';
  readonly of: (record: ImportedRecord) => Instant;
}

/** Any number of texts for each record, each at most once. */
export interface ListColumn extends Column {
  readonly holds: 'list';
  readonly of: (record: ImportedRecord) => readonly string[];
}

/** A column of a text field of the record, indexed under the name of the field. */
function textColumn(column: string, field: string): TextColumn {
  return { column, index: field, holds: 'text', of: ({ served }) => textIn(served[field]) };
}

/** A column of the instant of a timestamp of the record, indexed under its name. */
function instantColumn(column: string, field: string): InstantColumn {
  return {
    column,
    index: field,
    holds: 'instant',
    of: ({ served }) => parseTimestamp(textIn(served[field])) ?? 0n,
  };
}

export const EVENTS: CollectionLayout = {
  name: 'events',
  resource: EVENT,
  table: 'event_runs',
  orderedBy: { field: 'createdAt', descending: true },
  columns: [
    {
      column: 'tags',
      index: 'tag',
      holds: 'list',
      of: ({ served }) => textsIn(served['tags']).map(normalizeTag),
    },
  ],
  composites: [],
};

/** Its columns make no indexes of sessions: the loader draws the schedule of the events from them. */
export const SESSIONS: CollectionLayout = {
  name: 'sessions',
  resource: EVENT_SESSION,
  table: 'session_runs',
  orderedBy: { field: 'startAt', descending: false },
  columns: [
    {
      column: 'event_id',
      index: 'eventId',
      holds: 'text',
      of: ({ imported }) => textIn(imported['eventId']),
    },
    instantColumn('starts', 'startAt'),
  ],
  composites: [],
};

export const TICKETS: CollectionLayout = {
  name: 'tickets',
  resource: TICKET,
  table: 'ticket_runs',
  orderedBy: { field: 'issuedAt', descending: true },
  columns: [
    textColumn('event_id', 'eventId'),
    textColumn('event_session_id', 'eventSessionId'),
    textColumn('order_id', 'orderId'),
    textColumn('qr_code', 'qrCode'),
    instantColumn('updated_at', 'updatedAt'),
  ],
  composites: [['eventId', 'eventSessionId']],
};

export const ORDERS: CollectionLayout = {
  name: 'orders',
  resource: ORDER,
  table: 'order_runs',
  orderedBy: { field: 'createdAt', descending: true },
  columns: [
    textColumn('status', 'status'),
    {
      column: 'email',
      index: 'email',
      holds: 'text',
      of: ({ served }) => normalizeEmail(textIn(objectIn(served['customer'])?.['email'])),
    },
    instantColumn('updated_at', 'updatedAt'),
    {
      column: 'event_ids',
      index: 'eventId',
      holds: 'list',
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
  table: 'offer_runs',
  orderedBy: { field: 'createdAt', descending: false },
  columns: [
    textColumn('type', 'type'),
    instantColumn('created_at', 'createdAt'),
    {
      column: 'event_ids',
      index: 'eventId',
      holds: 'list',
      of: ({ served, imported }) =>
        served['type'] === 'TICKET' ? [textIn(served['eventId'])] : textsIn(imported['heldByEventIds']),
    },
    {
      column: 'resale_enabled',
      index: 'resaleEnabled',
      holds: 'list',
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

/** In the order in which they are imported and digested: events before the sessions that name them. */
export const COLLECTIONS: readonly CollectionLayout[] = [EVENTS, SESSIONS, TICKETS, ORDERS, OFFERS];

/** Makes a value for each collection, by its name. */
export function byCollection<T>(make: (layout: CollectionLayout) => T): Record<CollectionName, T> {
  return {
    events: make(EVENTS),
    sessions: make(SESSIONS),
    tickets: make(TICKETS),
    orders: make(ORDERS),
    offers: make(OFFERS),
  };
}

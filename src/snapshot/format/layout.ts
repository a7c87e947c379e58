import type { Resource } from '../../contract/field.ts';
import type { CollectionName } from '../../contract/operations.ts';
import { normalizeEmail, normalizeTag } from '../../contract/parameter.ts';
import { EVENT, EVENT_SESSION, OFFER, ORDER, TICKET } from '../../contract/resources.ts';
import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { type ListName, listOf } from '../../store/organization-image.ts';
import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from './json-values.ts';

/**
 * The tables of the collections, which have their names, and their index columns: the builder fills the columns, and the
 * loader indexes them. `data/schema.sql` declares the tables.
 */

export interface CollectionLayout {
  readonly name: CollectionName;
  readonly resource: Resource;
  readonly idColumn: string;
  /** List order, by a timestamp and then by id. */
  readonly orderedBy: { readonly field: string; readonly descending: boolean };
  /** Index columns of the table, in its order. */
  readonly columns: readonly ColumnLayout[];
  /**
   * Pairs of indexes that may both have long posting lists. An index of the pair finds the records with a key of both.
   * The second index covers a text column, so that each record has exactly one key in it. No index is in two pairs.
   */
  readonly composites: readonly (readonly [first: string, second: string])[];
  /** The instant index in whose order long posting lists are stored once more. */
  readonly postingOrder?: string;
}

/** An index column: a text, an instant, or a list of distinct texts for each record. */
export type ColumnLayout =
  Column<'text', string> | Column<'instant', Instant> | Column<'list', readonly string[]>;

interface Column<Kind, Value> {
  readonly column: string;
  readonly index: string;
  readonly holds: Kind;
  readonly of: Of<Value>;
}

type Of<Value> = (record: ImportedRecord) => Value;

/** A record in stored form, and its import line with the fields that are not served (`heldByEventIds`). */
export interface ImportedRecord {
  readonly served: JsonObject;
  readonly imported: JsonObject;
}

/** Declares a text column, by default over the field that gives the index its name. */
function textColumn(column: string, index: string, of?: Of<string>): ColumnLayout {
  return { column, index, holds: 'text', of: of ?? (({ served }) => textIn(served[index])) };
}

function instantColumn(column: string, index: string): ColumnLayout {
  return { column, index, holds: 'instant', of: ({ served }) => parseTimestamp(textIn(served[index])) ?? 0n };
}

function listColumn(column: string, index: string, of: Of<readonly string[]>): ColumnLayout {
  return { column, index, holds: 'list', of };
}

export const EVENTS: CollectionLayout = {
  name: 'events',
  resource: EVENT,
  idColumn: 'event_id',
  orderedBy: { field: 'createdAt', descending: true },
  columns: [listColumn('tags', 'tag', ({ served }) => textsIn(served['tags']).map(normalizeTag))],
  composites: [],
};

/** The loader derives the schedules of events from these columns; sessions have no index over a column. */
export const SESSIONS: CollectionLayout = {
  name: 'sessions',
  resource: EVENT_SESSION,
  idColumn: 'session_id',
  orderedBy: { field: 'startAt', descending: false },
  columns: [
    textColumn('event_id', 'eventId', ({ imported }) => textIn(imported['eventId'])),
    instantColumn('starts', 'startAt'),
  ],
  composites: [],
};

export const TICKETS: CollectionLayout = {
  name: 'tickets',
  resource: TICKET,
  idColumn: 'ticket_id',
  orderedBy: { field: 'issuedAt', descending: true },
  columns: [
    textColumn('event_id', 'eventId'),
    textColumn('event_session_id', 'eventSessionId'),
    textColumn('order_id', 'orderId'),
    textColumn('qr_code', 'qrCode'),
    instantColumn('updated_at', 'updatedAt'),
  ],
  composites: [['eventId', 'eventSessionId']],
  postingOrder: 'updatedAt',
};

export const ORDERS: CollectionLayout = {
  name: 'orders',
  resource: ORDER,
  idColumn: 'order_id',
  orderedBy: { field: 'createdAt', descending: true },
  columns: [
    textColumn('status', 'status'),
    textColumn('email', 'email', ({ served }) =>
      normalizeEmail(textIn(objectIn(served['customer'])?.['email'])),
    ),
    instantColumn('updated_at', 'updatedAt'),
    listColumn('event_ids', 'eventId', ({ served }) =>
      textsIn(objectsIn(served['placedItems']).map(({ eventId }) => eventId)),
    ),
  ],
  composites: [['eventId', 'status']],
  postingOrder: 'updatedAt',
};

export const OFFERS: CollectionLayout = {
  name: 'offers',
  resource: OFFER,
  idColumn: 'offer_id',
  orderedBy: { field: 'createdAt', descending: false },
  columns: [
    textColumn('type', 'type'),
    instantColumn('created_at', 'createdAt'),
    listColumn('event_ids', 'eventId', ({ served, imported }) =>
      served['type'] === 'TICKET' ? [textIn(served['eventId'])] : textsIn(imported['heldByEventIds']),
    ),
    listColumn('resale_enabled', 'resaleEnabled', ({ served }) =>
      served['type'] === 'TICKET'
        ? objectsIn(served['pricing']).flatMap(({ resaleEnabled }) =>
            typeof resaleEnabled === 'boolean' ? [String(resaleEnabled)] : [],
          )
        : [],
    ),
  ],
  composites: [['resaleEnabled', 'type']],
  postingOrder: 'createdAt',
};

/** The content of an organization, in the order of the import: events come before the sessions that refer to them. */
export const COLLECTIONS: readonly CollectionLayout[] = Object.values(byCollection((layout) => layout));

/** Returns whether an index is over a field that identifies something, in every variant of the resource. */
export function isIdentifier({ resource }: CollectionLayout, index: string): boolean {
  return Object.values(resource.variants).every((fields) => {
    if (!Object.hasOwn(fields, index)) return false;
    const { shape } = fields[index];
    return shape.kind === 'text' && shape.nonEmpty === true;
  });
}

export function byCollection<T>(make: (layout: CollectionLayout) => T): Record<CollectionName, T> {
  return {
    events: make(EVENTS),
    sessions: make(SESSIONS),
    tickets: make(TICKETS),
    orders: make(ORDERS),
    offers: make(OFFERS),
  };
}

/** Returns the collections that a list consists of. */
export function layoutsOf(list: ListName): CollectionLayout[] {
  return COLLECTIONS.filter(({ name }) => listOf(name) === list);
}

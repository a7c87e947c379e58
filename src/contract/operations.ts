import type { Resource } from './field.ts';
import {
  BOOLEAN,
  EMAIL,
  ID_LIST,
  INSTANT,
  ONE_ID,
  oneOf,
  PAGE,
  type ParameterKind,
  PER_PAGE,
  CONTENT_DIGEST,
  TAG_LIST,
} from './parameter.ts';
import { EVENT, EVENT_SESSION, OFFER, OFFER_TYPES, ORDER, ORDER_STATUSES, TICKET } from './resources.ts';

/**
 * The operations of the API, as data. Routes, the checks of parameters, the plan of a query and the OpenAPI
 * document are read from here. To add a filter is to add a line to `parameters` and, when no index of the
 * store serves it, an index.
 */

export type CollectionName = 'events' | 'sessions' | 'tickets' | 'orders' | 'offers';

export type Bound = 'gt' | 'gte' | 'lt' | 'lte';

/** What a parameter means for the query. `index` names an index of the operation's collection in the store. */
export type Role =
  | { readonly is: 'page' }
  | { readonly is: 'perPage' }
  /** The content that a walk over the pages began on. */
  | { readonly is: 'contentDigest' }
  /** One bound of a window of instants. */
  | { readonly is: 'bound'; readonly index: string; readonly bound: Bound }
  /** Records that have the key, or any of the listed keys. */
  | { readonly is: 'anyOf'; readonly index: string }
  /** Cuts `inventory` of ticket offers down to a session, and removes no offer. */
  | { readonly is: 'inventoryOf' }
  /** Selects by the `resaleEnabled` of pricings, and cuts `pricing` down to those that match. */
  | { readonly is: 'pricingOf'; readonly index: string };

/** Tells whether a parameter cuts offers down, so that the response is a partial view. */
export function cutsOffers({ is }: Role): boolean {
  return is === 'inventoryOf' || is === 'pricingOf';
}

export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  readonly role: Role;
  readonly description: string;
  readonly example: string;
}

/** What the operations are grouped by in the documentation. */
export const TAGS = {
  Events: 'Events and their sessions.',
  Tickets: 'Issued tickets.',
  Orders: 'Orders with their items.',
  Catalog: 'What is on offer.',
} as const;

interface OperationBase {
  /** Also the `operationId` of the OpenAPI document. */
  readonly id: string;
  /** Path template, as in OpenAPI. */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  readonly collection: CollectionName;
  readonly resource: Resource;
}

export interface ListOperation extends OperationBase {
  readonly kind: 'list';
  readonly parameters: readonly Parameter[];
  /** The parameter of the path that names the parent event, when the records are those of one event. */
  readonly parent?: PathParameter;
}

export interface RetrieveOperation extends OperationBase {
  readonly kind: 'retrieve';
  readonly pathParameter: PathParameter;
}

export interface PathParameter {
  readonly name: string;
  readonly description: string;
  readonly example: string;
}

export type Operation = ListOperation | RetrieveOperation;

const EXAMPLE_INSTANT = '2026-09-01T00:00:00+02:00';
const BOUND_WORDS: Readonly<Record<Bound, string>> = {
  gt: 'after',
  gte: 'at or after',
  lt: 'before',
  lte: 'at or before',
};

/** The parameter by which a link to a further page names the data that the walk began on. */
export const CONTENT_DIGEST_PARAMETER = 'snapshot';

const paging: readonly Parameter[] = [
  { name: 'page', kind: PAGE, role: { is: 'page' }, description: 'Page to return, from 1.', example: '1' },
  { name: 'perPage', kind: PER_PAGE, role: { is: 'perPage' }, description: 'Records a page.', example: '25' },
  {
    name: CONTENT_DIGEST_PARAMETER,
    kind: CONTENT_DIGEST,
    role: { is: 'contentDigest' },
    description:
      'Set by `nextPage`, not by hand: keeps a walk over the pages on the data that it began on while that is kept, ' +
      'though newer data goes live on the way. When it is gone, the walk goes on with the live data; ' +
      '`Service-Snapshot-Id` tells.',
    example: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  },
];

function bounds(index: string, of: string, suffixes: readonly Bound[]): Parameter[] {
  return suffixes.map((bound) => ({
    name: `${index}.${bound}`,
    kind: INSTANT,
    role: { is: 'bound', index, bound },
    description: `Only records ${of} is ${BOUND_WORDS[bound]} this instant. Write the + of an offset as %2B.`,
    example: EXAMPLE_INSTANT,
  }));
}

function anyOf(name: string, index: string, description: string, example: string, kind = ID_LIST): Parameter {
  return {
    name,
    kind,
    role: { is: 'anyOf', index },
    description: `${description} Comma-separated, at most 10 values; a record matches when any of them does.`,
    example,
  };
}

function exactly(
  name: string,
  index: string,
  kind: ParameterKind,
  description: string,
  example: string,
): Parameter {
  return { name, kind, role: { is: 'anyOf', index }, description, example };
}

const eventPath: PathParameter = { name: 'event_id', description: 'Event identifier.', example: 'evt_42' };

export const OPERATIONS: readonly Operation[] = [
  {
    id: 'listEvents',
    kind: 'list',
    path: '/v1/events',
    tag: 'Events',
    summary: 'List events',
    description: 'Events, latest created first.',
    collection: 'events',
    resource: EVENT,
    parameters: [
      ...paging,
      ...bounds('startAt', 'with a session whose start', ['gte', 'lte']),
      anyOf(
        'tags',
        'tag',
        'Tags; case and the amount of white space do not matter, accents do.',
        'Théâtre,Classique',
        TAG_LIST,
      ),
    ],
  },
  {
    id: 'getEvent',
    kind: 'retrieve',
    path: '/v1/events/{event_id}',
    tag: 'Events',
    summary: 'Retrieve an event',
    description: 'One event.',
    collection: 'events',
    resource: EVENT,
    pathParameter: eventPath,
  },
  {
    id: 'listEventSessions',
    kind: 'list',
    path: '/v1/events/{event_id}/sessions',
    tag: 'Events',
    summary: 'List the sessions of an event',
    description: 'Sessions of one event, earliest start first.',
    collection: 'sessions',
    resource: EVENT_SESSION,
    parent: eventPath,
    parameters: [...paging, ...bounds('startAt', 'whose start', ['gte', 'gt', 'lte', 'lt'])],
  },
  {
    id: 'listTickets',
    kind: 'list',
    path: '/v1/tickets',
    tag: 'Tickets',
    summary: 'List tickets',
    description: 'Tickets, latest issued first.',
    collection: 'tickets',
    resource: TICKET,
    parameters: [
      ...paging,
      ...bounds('updatedAt', 'whose last update', ['gte', 'lte']),
      anyOf('eventIds', 'eventId', 'Event identifiers.', 'evt_42,evt_43'),
      anyOf('sessionIds', 'eventSessionId', 'Session identifiers.', 'ses_301'),
      anyOf('qrCodes', 'qrCode', 'QR codes, exactly as `qrCode` reports them.', 'Q7F2-K9D1-44XA'),
      anyOf('orderIds', 'orderId', 'Order identifiers.', 'ord_5120'),
    ],
  },
  {
    id: 'getTicket',
    kind: 'retrieve',
    path: '/v1/tickets/{ticket_id}',
    tag: 'Tickets',
    summary: 'Retrieve a ticket',
    description: 'One ticket, the same object as in the list.',
    collection: 'tickets',
    resource: TICKET,
    pathParameter: { name: 'ticket_id', description: 'Ticket identifier.', example: 'tkt_9001' },
  },
  {
    id: 'listOrders',
    kind: 'list',
    path: '/v1/orders',
    tag: 'Orders',
    summary: 'List orders',
    description: 'Orders, latest created first.',
    collection: 'orders',
    resource: ORDER,
    parameters: [
      ...paging,
      ...bounds('updatedAt', 'whose last update', ['gte', 'lte']),
      anyOf('eventIds', 'eventId', 'Events of which the order holds an item.', 'evt_42,evt_43'),
      exactly('status', 'status', oneOf(ORDER_STATUSES), 'Status, exactly one.', 'FULFILLED'),
      exactly(
        'email',
        'email',
        EMAIL,
        'E-mail address of the customer; case does not matter.',
        'zoe.lefevre@example.org',
      ),
    ],
  },
  {
    id: 'getOrder',
    kind: 'retrieve',
    path: '/v1/orders/{order_id}',
    tag: 'Orders',
    summary: 'Retrieve an order',
    description: 'One order, the same object as in the list.',
    collection: 'orders',
    resource: ORDER,
    pathParameter: { name: 'order_id', description: 'Order identifier.', example: 'ord_5120' },
  },
  {
    id: 'listOffers',
    kind: 'list',
    path: '/v1/catalog/offers',
    tag: 'Catalog',
    summary: 'List offers',
    description:
      'Offers of the catalog, in the order of their creation. A response filtered by `resaleEnabled` or `sessionId` ' +
      'is a partial view of its offers and must not be stored as their complete pricing or inventory.',
    collection: 'offers',
    resource: OFFER,
    parameters: [
      ...paging,
      ...bounds('createdAt', 'whose creation', ['gte', 'lte']),
      exactly(
        'eventId',
        'eventId',
        ONE_ID,
        "The event's ticket offers and the products and bundles that it holds.",
        'evt_42',
      ),
      {
        name: 'sessionId',
        kind: ONE_ID,
        role: { is: 'inventoryOf' },
        description: 'Cuts `inventory` of ticket offers down to this session; removes no offer.',
        example: 'ses_301',
      },
      exactly('type', 'type', oneOf(OFFER_TYPES), 'Type of the offer.', 'TICKET'),
      {
        name: 'resaleEnabled',
        kind: BOOLEAN,
        role: { is: 'pricingOf', index: 'resaleEnabled' },
        description: 'Ticket offers with a pricing of this value; `pricing` is cut down to those pricings.',
        example: 'true',
      },
    ],
  },
  {
    id: 'getOffer',
    kind: 'retrieve',
    path: '/v1/catalog/offers/{offerId}',
    tag: 'Catalog',
    summary: 'Retrieve an offer',
    description: 'One offer, complete.',
    collection: 'offers',
    resource: OFFER,
    pathParameter: { name: 'offerId', description: 'Offer identifier.', example: 'off_7' },
  },
];

import { NDJSON_TYPE } from './headers.ts';
import {
  BOOLEAN,
  EMAIL,
  ID_LIST,
  INSTANT,
  isList,
  MAX_LIST_VALUES,
  ONE_ID,
  oneOf,
  PAGE,
  type ParameterKind,
  enumList,
  PER_PAGE,
  CONTENT_DIGEST,
  TAG_LIST,
  TOKEN,
} from './parameter.ts';
import { COLLECTION_NAMES, OFFER_TYPES, ORDER_STATUSES } from './resources.ts';

/**
 * The operations of the API, as data. Routes, parameter checks, query plans and the OpenAPI document derive from
 * them. A new filter is a line in `parameters` and, when no index of the store serves it, an index.
 */

/** A collection of the records that an organization has. Together, they are its content. */
export type CollectionName = (typeof COLLECTION_NAMES)[number];

export type Bound = 'gt' | 'gte' | 'lt' | 'lte';

/** The meaning of a parameter in a query. `index` names an index of the operation's collection in the store. */
type Role =
  | { readonly is: 'page' | 'perPage' }
  /** The content that a walk began on. */
  | { readonly is: 'contentDigest' }
  | { readonly is: 'bound'; readonly index: string; readonly bound: Bound }
  /** Selects the records that have any of the listed keys. */
  | { readonly is: 'anyOf'; readonly index: string }
  /** Limits `inventory` of ticket offers to a session. The list of offers does not change. */
  | { readonly is: 'inventoryOf' }
  /** Selects offers by the `resaleEnabled` of their pricings, and limits `pricing` to those that match. */
  | { readonly is: 'pricingOf'; readonly index: string };

/** Returns whether a parameter limits the content of offers. Such a response is a partial view. */
export function cutsOffers({ is }: Role): boolean {
  return is === 'inventoryOf' || is === 'pricingOf';
}

export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  readonly description: string;
  /** Undefined for a value that only a response contains. */
  readonly example?: string;
}

export interface ListParameter extends Parameter {
  readonly role: Role;
}

export const TAGS = {
  Events: 'Events and their sessions.',
  Tickets: 'Issued tickets.',
  Orders: 'Orders with their items.',
  Catalog: 'Offers.',
  Changes: 'A copy of all records that stays up to date.',
} as const;

interface OperationBase {
  /** Also the `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  /** That of a list names an event: the list has the records of that event. */
  readonly pathParameter?: PathParameter;
}

export interface ListOperation extends OperationBase {
  readonly kind: 'list';
  readonly collection: CollectionName;
  readonly parameters: readonly ListParameter[];
}

export interface RetrieveOperation extends OperationBase {
  readonly kind: 'retrieve';
  readonly collection: CollectionName;
  readonly pathParameter: PathParameter;
}

export interface ChangesOperation extends OperationBase {
  readonly kind: 'changes';
  readonly since: Parameter;
  readonly collections: Parameter;
  readonly eventIds: Parameter;
}

export type PathParameter = Required<Omit<Parameter, 'kind'>>;

export type Operation = ListOperation | RetrieveOperation | ChangesOperation;

export function parametersOf(operation: Operation): readonly Parameter[] {
  if (operation.kind === 'changes') return [operation.since, operation.collections, operation.eventIds];
  return operation.kind === 'list' ? operation.parameters : [];
}

export function routePath({ path }: Operation): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

export function pathWith({ path }: Operation, parameter: string): string {
  return path.replace(/\{\w+\}/, encodeURIComponent(parameter));
}

const EXAMPLE_INSTANT = '2026-09-01T00:00:00+02:00';
const BOUND_WORDS: Readonly<Record<Bound, string>> = {
  gt: 'after',
  gte: 'at or after',
  lt: 'before',
  lte: 'at or before',
};

/** The parameter in `nextPage` links that names the content on which the walk began. */
export const CONTENT_DIGEST_PARAMETER = 'snapshot';

const NOT_OF_LINES = `Must be omitted with \`Accept: ${NDJSON_TYPE}\`, which returns all records.`;

const paging: readonly ListParameter[] = [
  {
    name: 'page',
    kind: PAGE,
    role: { is: 'page' },
    description: `Page number, from 1. ${NOT_OF_LINES}`,
    example: '1',
  },
  {
    name: 'perPage',
    kind: PER_PAGE,
    role: { is: 'perPage' },
    description: `Page size. ${NOT_OF_LINES}`,
    example: '25',
  },
  {
    name: CONTENT_DIGEST_PARAMETER,
    kind: CONTENT_DIGEST,
    role: { is: 'contentDigest' },
    description:
      'Set by `nextPage` links. Keeps all pages on the data of the first page, even when newer data goes live. That data ' +
      'stays available for a time after each use. When it is gone, the response is 400 with an error at ' +
      '`query.snapshot`: begin again without this parameter. It is 429 when the data may not be loaded yet.',
  },
];

function bounds(index: string, of: string, suffixes: readonly Bound[]): ListParameter[] {
  return suffixes.map((bound) => ({
    name: `${index}.${bound}`,
    kind: INSTANT,
    role: { is: 'bound', index, bound },
    description: `Only records ${of} is ${BOUND_WORDS[bound]} this instant.`,
    example: EXAMPLE_INSTANT,
  }));
}

function anyOf(
  name: string,
  index: string,
  kind: ParameterKind,
  description: string,
  example: string,
): ListParameter {
  const suffix = isList(kind)
    ? ` Comma-separated, or given several times; at most ${MAX_LIST_VALUES} values. A record matches if it has any of them.`
    : '';
  return { name, kind, role: { is: 'anyOf', index }, description: description + suffix, example };
}

const eventPath: PathParameter = { name: 'event_id', description: 'Event identifier.', example: 'evt_42' };

export const OPERATIONS: readonly Operation[] = [
  {
    id: 'listEvents',
    kind: 'list',
    path: '/v1/events',
    tag: 'Events',
    summary: 'List events',
    description: 'Events, ordered by creation time, latest first.',
    collection: 'events',
    parameters: [
      ...paging,
      ...bounds('startAt', 'with a session whose start', ['gte', 'lte']),
      anyOf(
        'tags',
        'tag',
        TAG_LIST,
        'Tags. Case and repeated white space are ignored; accents are significant.',
        'Théâtre,Classique',
      ),
    ],
  },
  {
    id: 'getEvent',
    kind: 'retrieve',
    path: '/v1/events/{event_id}',
    tag: 'Events',
    summary: 'Retrieve an event',
    description: 'Returns an event.',
    collection: 'events',
    pathParameter: eventPath,
  },
  {
    id: 'listEventSessions',
    kind: 'list',
    path: '/v1/events/{event_id}/sessions',
    tag: 'Events',
    summary: 'List the sessions of an event',
    description: 'Sessions of an event, ordered by start, earliest first.',
    collection: 'sessions',
    pathParameter: eventPath,
    parameters: [...paging, ...bounds('startAt', 'whose start', ['gte', 'gt', 'lte', 'lt'])],
  },
  {
    id: 'listTickets',
    kind: 'list',
    path: '/v1/tickets',
    tag: 'Tickets',
    summary: 'List tickets',
    description: 'Tickets, ordered by time of issue, latest first.',
    collection: 'tickets',
    parameters: [
      ...paging,
      ...bounds('updatedAt', 'whose last update', ['gte', 'lte']),
      anyOf('eventIds', 'eventId', ID_LIST, 'Event identifiers.', 'evt_42,evt_43'),
      anyOf('sessionIds', 'eventSessionId', ID_LIST, 'Session identifiers.', 'ses_301'),
      anyOf('qrCodes', 'qrCode', ID_LIST, 'QR codes, exactly as in `qrCode`.', 'Q7F2-K9D1-44XA'),
      anyOf('orderIds', 'orderId', ID_LIST, 'Order identifiers.', 'ord_5120'),
    ],
  },
  {
    id: 'getTicket',
    kind: 'retrieve',
    path: '/v1/tickets/{ticket_id}',
    tag: 'Tickets',
    summary: 'Retrieve a ticket',
    description: 'Returns a ticket in the same form as the list.',
    collection: 'tickets',
    pathParameter: { name: 'ticket_id', description: 'Ticket identifier.', example: 'tkt_9001' },
  },
  {
    id: 'listOrders',
    kind: 'list',
    path: '/v1/orders',
    tag: 'Orders',
    summary: 'List orders',
    description: 'Orders, ordered by creation time, latest first.',
    collection: 'orders',
    parameters: [
      ...paging,
      ...bounds('updatedAt', 'whose last update', ['gte', 'lte']),
      anyOf('eventIds', 'eventId', ID_LIST, 'Event identifiers of placed items.', 'evt_42,evt_43'),
      anyOf('status', 'status', oneOf(ORDER_STATUSES), 'A single status.', 'FULFILLED'),
      anyOf(
        'email',
        'email',
        EMAIL,
        'E-mail address of the customer; case-insensitive.',
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
    description: 'Returns an order in the same form as the list.',
    collection: 'orders',
    pathParameter: { name: 'order_id', description: 'Order identifier.', example: 'ord_5120' },
  },
  {
    id: 'listOffers',
    kind: 'list',
    path: '/v1/catalog/offers',
    tag: 'Catalog',
    summary: 'List offers',
    description:
      'Offers, ordered by creation time, earliest first. A response filtered by `resaleEnabled` or `sessionId` ' +
      'is a partial view of its offers and must not be stored as their complete pricing or inventory.',
    collection: 'offers',
    parameters: [
      ...paging,
      ...bounds('createdAt', 'whose creation', ['gte', 'lte']),
      anyOf(
        'eventId',
        'eventId',
        ONE_ID,
        "The event's ticket offers, and the products and bundles assigned to it.",
        'evt_42',
      ),
      {
        name: 'sessionId',
        kind: ONE_ID,
        role: { is: 'inventoryOf' },
        description:
          'Limits `inventory` of ticket offers to this session. The list of offers does not change.',
        example: 'ses_301',
      },
      anyOf('type', 'type', oneOf(OFFER_TYPES), 'Type of the offer.', 'TICKET'),
      {
        name: 'resaleEnabled',
        kind: BOOLEAN,
        role: { is: 'pricingOf', index: 'resaleEnabled' },
        description:
          'Returns only ticket offers that have a pricing with this value, and limits `pricing` to those pricings.',
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
    description: 'Returns the complete offer.',
    collection: 'offers',
    pathParameter: { name: 'offerId', description: 'Offer identifier.', example: 'off_7' },
  },
  {
    id: 'readChanges',
    kind: 'changes',
    path: '/v1/changes',
    tag: 'Changes',
    summary: 'Read the changes since a snapshot',
    description:
      `A stream (\`${NDJSON_TYPE}\`) of the changes that bring a copy to the live snapshot, one in each line: deleted ` +
      'records, then new and changed ones, and at the end the token of that snapshot. Without a token, or with one that ' +
      'cannot be continued, the stream begins with `reset` and has all records. With `eventIds`, a record that no longer ' +
      'belongs to them counts as deleted; a token of other events cannot be continued. A stream without its last line is not ' +
      'whole: apply nothing of it.',
    since: {
      name: 'since',
      kind: TOKEN,
      description: 'Token: `next` of the last line of the previous response. Omit it for a first copy.',
    },
    collections: {
      name: 'collections',
      kind: enumList(COLLECTION_NAMES),
      description: 'Collections to read, comma-separated. Default: all of them.',
      example: 'tickets,orders',
    },
    eventIds: anyOf(
      'eventIds',
      'eventId',
      ID_LIST,
      'Limits the copy to these events, with the sessions, tickets, orders and offers that the filters of the lists find.',
      'evt_42,evt_43',
    ),
  },
];

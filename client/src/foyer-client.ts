import type { RecordOf } from './contract.ts';
import { Collection, List } from './list.ts';
import { type Copy, syncCopy, type SyncOptions, type SyncState } from './sync.ts';
import { type ClientOptions, Transport } from './transport.ts';

export type { Filters, ListId, Page, PageFilters, RecordOf, Source } from './contract.ts';
export {
  ConnectionError,
  FoyerError,
  IgnoredFilterError,
  ResponseError,
  type Violation,
  WalkGoneError,
} from './errors.ts';
export type { ChangedList, Collection, List, PollOptions, RequestOptions, UnchangedList } from './list.ts';
export type { CollectionName, Copy, Entry, RecordKey, SyncOptions, SyncState } from './sync.ts';
export type { ClientOptions } from './transport.ts';

export type Event = RecordOf<'listEvents'>;
export type EventSession = RecordOf<'listEventSessions'>;
export type Ticket = RecordOf<'listTickets'>;
export type Order = RecordOf<'listOrders'>;
export type Offer = RecordOf<'listOffers'>;

class Events extends Collection<'listEvents', 'getEvent'> {
  /** Returns the list of an event's sessions. It raises a ResponseError with status 404 if the event is missing. */
  sessions(eventId: string): List<'listEventSessions'> {
    return new List(this.transport, 'listEventSessions', eventId);
  }
}

/** Reads the records of the organization whose credential it has. */
export class FoyerClient {
  readonly events: Events;
  readonly tickets: Collection<'listTickets', 'getTicket'>;
  readonly orders: Collection<'listOrders', 'getOrder'>;
  /** In preview: it may change or be withdrawn at any time. */
  readonly offers: Collection<'listOffers', 'getOffer'>;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.events = new Events(transport, 'listEvents', 'getEvent');
    this.tickets = new Collection(transport, 'listTickets', 'getTicket');
    this.orders = new Collection(transport, 'listOrders', 'getOrder');
    this.offers = new Collection(transport, 'listOffers', 'getOffer');
  }

  /**
   * Makes a round of a sync: brings a copy to the live snapshot, in one transaction. In preview.
   * @param token `next` of the state that `copy.commit` stored last; undefined for a first copy
   */
  sync(copy: Copy, token?: string, options?: SyncOptions): Promise<SyncState> {
    return syncCopy(this.#transport, copy, token, options);
  }
}

import type { ListId, RecordOf, Source } from './contract.ts';
import { FoyerError, ResponseError } from './errors.ts';
import type { FoyerClient } from './foyer-client.ts';
import type { ChangedList, UnchangedList } from './list.ts';

/** A sync keeps a copy of an organization's records. docs/integrators.md of the service explains its steps. */

export type CollectionName = RecordOf<'listDeletions'>['collection'];

interface ListOf {
  events: 'listEvents';
  sessions: 'listEventSessions';
  tickets: 'listTickets';
  orders: 'listOrders';
  offers: 'listOffers';
}

/** A record with its id in its collection. A session has the id of its event, which the record lacks. */
export type Entry = { [Name in CollectionName]: EntryIn<Name> }[CollectionName];

export type EntryIn<Name extends CollectionName> = {
  readonly collection: Name;
  readonly id: string;
  readonly record: RecordOf<ListOf[Name]>;
} & (Name extends 'sessions' ? { readonly eventId: string } : unknown);

/** The result of a round, from which the next one goes on. It is plain JSON. */
export interface SyncState extends Source {
  readonly eventsTag: string;
  readonly offersTag: string;
}

/**
 * The copy that a sync writes. A round is one transaction: after `begin`, the sync makes its changes, and ends with
 * `commit`, or with `rollback` and an error. Each method may return a promise.
 */
export interface Copy {
  begin(): void | Promise<void>;
  /** Removes all records of a collection. */
  clear(collection: CollectionName): void | Promise<void>;
  /** Adds records, or replaces those with the same id. Those of a call are of one collection. */
  put(entries: readonly Entry[]): void | Promise<void>;
  /** Removes records. The copy may lack some of them. */
  remove(collection: CollectionName, ids: readonly string[]): void | Promise<void>;
  /** Commits, together with the state from which the next round goes on. */
  commit(state: SyncState): void | Promise<void>;
  rollback(): void | Promise<void>;
}

export interface SyncOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Time by which the window of changes begins before the data of the previous round. It must exceed the longest
   * transaction of the ticketing system and the export together. Default: 600.
   */
  readonly overlapSeconds?: number | undefined;
  /**
   * Maximum age of the copy against the data of the service. An older copy begins anew, since the service lists
   * deletions for a time. Default: 60.
   */
  readonly maxAgeDays?: number | undefined;
}

/** Attempts at a round. Newer data that goes live during one makes it begin again. */
const ATTEMPTS = 5;
const BATCH = 500;
const DAY_MS = 86_400_000;

/** The responses of a round come from more than one snapshot. */
class NewerData extends Error {}

/** The changes since the previous round do not lead from the copy to the data of the service. */
class OutdatedCopy extends Error {}

/**
 * Brings a copy to the data of one snapshot.
 * @param state that of the latest commit; undefined for a first copy
 */
export async function syncCopy(
  client: FoyerClient,
  copy: Copy,
  state: SyncState | undefined,
  options: SyncOptions = {},
): Promise<SyncState> {
  let previous = state;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const ending = new AbortController();
    const { signal } = options;
    const round = new Round(client, copy, {
      signal: signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]),
    });
    await copy.begin();
    try {
      const next = await round.run(previous, options);
      await copy.commit(next);
      return next;
    } catch (error) {
      await rollBack(copy, error);
      if (error instanceof OutdatedCopy) previous = undefined;
      else if (!(error instanceof NewerData)) throw error;
    } finally {
      // An error may leave a stream unread.
      ending.abort();
    }
  }
  throw new FoyerError(`newer data went live during each of ${ATTEMPTS} attempts at a round`);
}

/** Ends the transaction of a round that failed. An error of both is an AggregateError. */
async function rollBack(copy: Copy, cause: unknown): Promise<void> {
  try {
    await copy.rollback();
  } catch (error) {
    const message = `a round failed, and then its rollback: ${String(cause)}`;
    throw new AggregateError([cause, error], message, { cause: error });
  }
}

class Round {
  readonly #client: FoyerClient;
  readonly #copy: Copy;
  readonly #request: { readonly signal: AbortSignal };
  #source: Source | undefined;

  constructor(client: FoyerClient, copy: Copy, request: { readonly signal: AbortSignal }) {
    this.#client = client;
    this.#copy = copy;
    this.#request = request;
  }

  /** @throws OutdatedCopy when the round must begin without a state */
  async run(state: SyncState | undefined, options: SyncOptions): Promise<SyncState> {
    const { events, tickets, orders, offers, deletions } = this.#client;
    const { overlapSeconds = 600, maxAgeDays = 60 } = options;
    const since = state && new Date(Date.parse(state.dataAsOf) - overlapSeconds * 1000);

    // Tickets and orders: all of them first, then those that changed, and the deletions.
    const updated = since === undefined ? {} : { updatedAt: { gte: since } };
    if (since === undefined) for (const each of ['tickets', 'orders'] as const) await this.#copy.clear(each);
    const changedTickets = this.#ofSameSnapshot(await tickets.ifChanged(undefined, updated, this.#request));
    if (state !== undefined) checkAge(state, changedTickets, maxAgeDays * DAY_MS);
    await this.#put(changedTickets, (record) => ({ collection: 'tickets', id: record.ticketId, record }));
    const changedOrders = this.#ofSameSnapshot(await orders.ifChanged(undefined, updated, this.#request));
    await this.#put(changedOrders, (record) => ({ collection: 'orders', id: record.orderId, record }));
    if (since !== undefined) {
      const removed = await deletions.ifChanged(undefined, { deletedAt: { gte: since } }, this.#request);
      await this.#remove(this.#ofSameSnapshot(removed));
    }

    // Events, sessions and offers have no such filter: the whole list, unless no record of the organization has changed.
    const eventList = this.#ofSameSnapshot(await events.ifChanged(state?.eventsTag, {}, this.#request));
    if (eventList.changed) await this.#replaceEvents(eventList);
    const offerList = this.#ofSameSnapshot(await offers.ifChanged(state?.offersTag, {}, this.#request));
    if (offerList.changed) {
      await this.#copy.clear('offers');
      await this.#put(offerList, (record) => ({ collection: 'offers', id: record.offerId, record }));
    }

    const { snapshotId, dataAsOf } = offerList;
    return { snapshotId, dataAsOf, eventsTag: eventList.tag, offersTag: offerList.tag };
  }

  async #replaceEvents(list: ChangedList<'listEvents'>): Promise<void> {
    await this.#copy.clear('events');
    await this.#copy.clear('sessions');
    const ids: string[] = [];
    await this.#put(list, (record) => {
      ids.push(record.id);
      return { collection: 'events', id: record.id, record };
    });
    for (const eventId of ids) {
      const sessions = this.#ofSameSnapshot(await this.#sessionsOf(eventId));
      await this.#put(sessions, (record) => ({ collection: 'sessions', id: record.id, eventId, record }));
    }
  }

  async #sessionsOf(eventId: string): Promise<ChangedList<'listEventSessions'> | UnchangedList> {
    try {
      return await this.#client.events.sessions(eventId).ifChanged(undefined, {}, this.#request);
    } catch (error) {
      // The snapshot of this round has the event.
      if (error instanceof ResponseError && error.status === 404) throw new NewerData();
      throw error;
    }
  }

  /** Puts the records of a list, in batches. */
  async #put<Id extends ListId>(
    list: ChangedList<Id> | UnchangedList,
    entryOf: (record: RecordOf<Id>) => Entry,
  ): Promise<void> {
    if (!list.changed) return;
    let batch: Entry[] = [];
    for await (const record of list.records) {
      batch.push(entryOf(record));
      if (batch.length < BATCH) continue;
      await this.#copy.put(batch);
      batch = [];
    }
    if (batch.length > 0) await this.#copy.put(batch);
  }

  async #remove(list: ChangedList<'listDeletions'> | UnchangedList): Promise<void> {
    if (!list.changed) return;
    const idsOf = new Map<CollectionName, string[]>();
    for await (const { collection, id } of list.records) {
      const ids = idsOf.get(collection);
      if (ids === undefined) idsOf.set(collection, [id]);
      else ids.push(id);
    }
    for (const [collection, ids] of idsOf) await this.#copy.remove(collection, ids);
  }

  #ofSameSnapshot<Answer extends Source>(answer: Answer): Answer {
    this.#source ??= answer;
    if (answer.snapshotId !== this.#source.snapshotId) throw new NewerData();
    return answer;
  }
}

/**
 * Compares a copy with the data of the service, by the times of both: no clock of this machine matters.
 * @throws OutdatedCopy when deletions since then may not be listed, or when the service has gone back to older data: the
 *   copy has changes that the data lacks
 */
function checkAge(copy: Source, live: Source, maxAgeMs: number): void {
  const age = Date.parse(live.dataAsOf) - Date.parse(copy.dataAsOf);
  if (age < 0 || age > maxAgeMs) throw new OutdatedCopy();
}

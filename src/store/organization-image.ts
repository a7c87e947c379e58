import type { CollectionName } from '../contract/operations.ts';
import type { IdIndexImage } from './index/id-index.ts';
import type { InstantImage } from './index/instant-index.ts';
import type { PostingImage } from './index/posting-index.ts';
import {
  type Bytes,
  type Int64s,
  sharedBytes,
  sharedInt64s,
  sharedUint32s,
  type Uint32s,
} from './memory/shared-arrays.ts';
import { recordsImage } from './records-builder.ts';
import type { RecordsImage } from './records.ts';

/**
 * The records of a collection and the indexes over its ids and columns: plain objects of typed arrays over shared memory. A thread
 * that receives them shares the memory.
 */
export interface CollectionImage {
  readonly count: number;
  /** Sum of the digests of its records, as the snapshot declares it. */
  readonly recordsSum: string;
  readonly records: RecordsImage;
  readonly ids: IdIndexImage;
  /** Posting indexes by name, such as `eventId`. */
  readonly postings: Readonly<Record<string, PostingImage>>;
  /** Instant indexes by name, such as `updatedAt`. */
  readonly instants: Readonly<Record<string, InstantImage>>;
}

/**
 * The sessions of each event. Their rows are in the order of their events' rows, then by start, then by id.
 *
 *     firstOfEvent   firstOfEvent[e] … firstOfEvent[e + 1] are the sessions of event row e
 *     eventOf        by session: row of its event
 *     starts         by session: start, microseconds since the epoch
 *     startAt        the starts of all events, each with the row of its event; also an index of the events
 *     nextFields     by session: last fields of its event's record while it is the next session
 */
export interface ScheduleImage {
  readonly firstOfEvent: Uint32s;
  readonly eventOf: Uint32s;
  readonly starts: Int64s;
  readonly startAt: InstantImage;
  readonly nextFields: RecordsImage;
}

export const NO_SCHEDULE: ScheduleImage = {
  firstOfEvent: sharedUint32s(1),
  eventOf: sharedUint32s(0),
  starts: sharedInt64s(0),
  startAt: { sorted: sharedInt64s(0), rows: sharedUint32s(0) },
  nextFields: recordsImage([]),
};

/** What all sections have. A section is a part of an organization's data, which is kept or released as a whole. */
interface SectionBase {
  /** Identifies the content among the sections of the organization, base64url. */
  readonly digest: string;
  /** Bytes of its buffers, without records that snapshots may share, and their places. */
  readonly bytesHeld: number;
  /** Two elements, which any thread may change: the second of the last use by a walk, and the number of open streams. */
  readonly uses: Uint32s;
}

/** All that the responses of a list consist of: its collection, and with events their sessions. */
export interface ListImage extends SectionBase {
  readonly name: ListName;
  readonly collections: Readonly<Record<string, CollectionImage>>;
  readonly schedule: ScheduleImage;
}

/** A list, by the name of its collection. */
export type ListName = Exclude<CollectionName, 'sessions'>;

/** Returns the list whose responses a collection belongs to. Those of events and of their sessions consist of both. */
export function listOf(collection: CollectionName): ListName {
  return collection === 'sessions' ? 'events' : collection;
}

export function byList<T>(make: (list: ListName) => T): Record<ListName, T> {
  return { events: make('events'), tickets: make('tickets'), orders: make('orders'), offers: make('offers') };
}

/** The changes of a collection, each by the production time of the first snapshot that has it. */
export interface ChangesImage {
  /** Records that were added or changed, by their last change. */
  readonly changed: InstantImage;
  /** Ids of deleted records, as JSON texts. */
  readonly deleted: { readonly sorted: Int64s; readonly ids: RecordsImage };
}

/** The changes of an organization. Each snapshot has its own, also where the content stays. */
export interface HistoryImage extends SectionBase {
  readonly name: 'history';
  /** Production times of the snapshots between which changes are known, microseconds since the epoch. */
  readonly since: bigint;
  readonly until: bigint;
  /**
   * The snapshots from which a copy can be continued, from `lineageOf`: the ancestors of a snapshot, and itself. All
   * organizations of a file share it, so that `bytesHeld` does not count it.
   */
  readonly lineage: Bytes;
  readonly changes: Readonly<Record<CollectionName, ChangesImage>>;
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A snapshot: its UUID, and its production time in microseconds since the epoch. */
type Snapshot = readonly [id: string, instant: bigint];

/** Returns the lineage of snapshots: a line for each. No line is the end of another, since all ids have one length. */
export function lineageOf(snapshots: readonly Snapshot[]): Bytes {
  const lines = Buffer.from(snapshots.map(lineOf).join(''));
  const lineage = sharedBytes(lines.length);
  lineage.set(lines);
  return lineage;
}

export function descendsFrom({ lineage, since }: HistoryImage, snapshot: Snapshot): boolean {
  const [, instant] = snapshot;
  return instant >= since && Buffer.from(lineage.buffer).includes(lineOf(snapshot));
}

function lineOf([id, instant]: Snapshot): string {
  return `${id} ${instant}\n`;
}

export type SectionImage = ListImage | HistoryImage;

/** The data of an organization in one snapshot: a section for each list, and one for the changes. */
export interface OrganizationImage {
  readonly organizationId: string;
  readonly lists: Readonly<Record<ListName, ListImage>>;
  readonly history: HistoryImage;
}

/** An image that was loaded beside earlier ones. */
export interface LoadedImage extends OrganizationImage {
  /** The lists of earlier snapshots that stay in memory, where records of theirs were moved. */
  readonly earlier?: readonly ListImage[];
}

export function sectionsOf({ lists, history }: Pick<OrganizationImage, 'lists' | 'history'>): SectionImage[] {
  return [...Object.values(lists), history];
}

/** Returns the records of a section that images of other snapshots may share. */
export function sharedRecordsOf(section: SectionImage): RecordsImage[] {
  const collections = section.name === 'history' ? [] : Object.values(section.collections);
  return collections.map(({ records }) => records).filter(({ isShared }) => isShared);
}

/** The numbers of slabs. */
export type SharedNumbers = ReadonlySet<number>;

/**
 * Computes the memory of sections. What several of them share counts once.
 * @param held numbers of slabs that do not count
 * @returns also the numbers of all
 */
export function memoryOf(sections: Iterable<SectionImage>, held: SharedNumbers = new Set()) {
  const numbers = new Set(held);
  let bytes = 0;
  for (const section of sections) {
    bytes += section.bytesHeld;
    for (const { places, slabs } of sharedRecordsOf(section)) {
      bytes += places.byteLength;
      for (const slab of slabs) {
        if (!numbers.has(slab.number)) bytes += slab.bytes.length;
        numbers.add(slab.number);
      }
    }
  }
  return { bytes, numbers };
}

export function collectionOf(
  { lists }: Pick<OrganizationImage, 'lists'>,
  name: CollectionName,
): CollectionImage {
  return lists[listOf(name)].collections[name];
}

/** A snapshot by its id and its production time, ISO 8601. */
export interface SnapshotOrigin {
  readonly snapshotId: string;
  readonly producedAt: string;
}

/** Organizations whose lists and changes are those in memory. Their history goes on. */
export interface UnchangedOrganizations {
  readonly organizationIds: readonly string[];
  readonly history: Pick<HistoryImage, 'digest' | 'lineage' | 'since' | 'until'>;
}

export interface SnapshotImage extends SnapshotOrigin {
  readonly organizations: readonly LoadedImage[];
  /** Those that were not loaded again. */
  readonly unchanged?: UnchangedOrganizations | undefined;
}

/**
 * Notes a use of a section by a walk: a response with a link to a further page, or to such a link.
 * @param now milliseconds of the monotonic clock
 */
export function noteUse({ uses }: SectionImage, now: number): void {
  // Rounded up, so that no section is retained for less than the configured time.
  const second = Math.ceil(now / 1000);
  // Every page is a use. More than one write a second would only invalidate the caches of other processors.
  if (Atomics.load(uses, 0) !== second) Atomics.store(uses, 0, second);
}

/** Adds to the open streams of a section. Those of a worker that fails stay in the number. */
export function addStreams({ uses }: SectionImage, change: 1 | -1): void {
  Atomics.add(uses, 1, change);
}

/**
 * Returns the time of the last use, 0 without a use. An open stream uses a section at all times.
 * @param now milliseconds of the monotonic clock, as the result
 */
export function lastUseOf({ uses }: SectionImage, now: number): number {
  return Atomics.load(uses, 1) > 0 ? now : Atomics.load(uses, 0) * 1000;
}

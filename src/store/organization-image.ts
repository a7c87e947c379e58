import type { IdIndexImage } from './index/id-index.ts';
import type { InstantImage } from './index/instant-index.ts';
import type { PostingImage } from './index/posting-index.ts';
import type { Bytes, Int64s, Uint32s } from './memory/shared-arrays.ts';
import type { RecordsImage } from './records.ts';

/**
 * The records of a collection and the indexes over its ids and columns: plain objects of typed arrays over shared memory. A thread
 * that receives them shares the memory.
 */
export interface CollectionImage {
  readonly count: number;
  readonly records: RecordsImage;
  readonly ids: IdIndexImage;
  /** Posting indexes by name, such as `eventId`. */
  readonly postings: Readonly<Record<string, PostingImage>>;
  /** Instant indexes by name, such as `updatedAt`. */
  readonly instants: Readonly<Record<string, InstantImage>>;
}

/**
 * Sessions in the order of their events' rows, then by start, then by id.
 *
 *     firstOfEvent   firstOfEvent[e] … firstOfEvent[e + 1] are the sessions of event row e
 *     eventOf        by session: row of its event
 *     starts         by session: start, microseconds since the epoch
 *     startOrder     rows of the sessions of all events, by start
 *     nextFields     by session: last fields of its event's record while it is the next session
 */
export interface SessionsImage extends CollectionImage {
  readonly firstOfEvent: Uint32s;
  readonly eventOf: Uint32s;
  readonly starts: Int64s;
  readonly startOrder: Uint32s;
  readonly nextFields: RecordsImage;
}

/** The content of an organization. */
export interface OrganizationImage {
  readonly organizationId: string;
  /** Digest of the records in the image, base64url. Equal images of an organization have equal digests. */
  readonly contentDigest: string;
  /** Bytes of shared memory that the image holds. */
  readonly bytesHeld: number;
  readonly events: CollectionImage;
  readonly sessions: SessionsImage;
  readonly tickets: CollectionImage;
  readonly orders: CollectionImage;
  readonly offers: CollectionImage;
}

/** The changes of a collection, each by the production time of the first snapshot that has it. */
export interface ChangesImage {
  /** Records that were added or changed, by their last change. */
  readonly changed: InstantImage;
  /** Ids of deleted records, as JSON texts. */
  readonly deleted: { readonly sorted: Int64s; readonly ids: RecordsImage };
}

/** Production times of the first and the last snapshot between which changes are known, microseconds since the epoch. */
export interface HistoryRange {
  readonly since: bigint;
  readonly until: bigint;
}

/** The changes of an organization. Each snapshot has its own, also where the content stays. */
export interface HistoryImage extends HistoryRange {
  /** The snapshots from which a copy can be continued, from `lineageOf`: the ancestors of a snapshot, and itself. */
  readonly lineage: Bytes;
  readonly changes: Readonly<Record<CollectionName, ChangesImage>>;
  /** Bytes of shared memory, without those of the lineage, which all organizations of a file share. */
  readonly bytesHeld: number;
}

/** The name of a collection in an image. */
type CollectionName = {
  [Name in keyof OrganizationImage]: OrganizationImage[Name] extends CollectionImage ? Name : never;
}[keyof OrganizationImage];

export interface SnapshotImage {
  readonly snapshotId: string;
  /** ISO 8601. */
  readonly producedAt: string;
  readonly organizations: readonly { readonly content: OrganizationImage; readonly history: HistoryImage }[];
}

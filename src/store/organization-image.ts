import type { HistoryImage } from './history.ts';
import type { IdIndexImage } from './index/id-index.ts';
import type { InstantImage } from './index/instant-index.ts';
import type { PostingImage } from './index/posting-index.ts';
import type { Int64s, Uint32s } from './memory/shared-arrays.ts';
import type { RecordsImage } from './records.ts';

/**
 * The records of a list and the indexes over its columns: plain objects of typed arrays over shared memory. A thread
 * that receives them shares the memory.
 */
export interface ListImage {
  readonly count: number;
  readonly records: RecordsImage;
  /** Posting indexes by name, such as `eventId`. */
  readonly postings: Readonly<Record<string, PostingImage>>;
  /** Instant indexes by name, such as `updatedAt`. */
  readonly instants: Readonly<Record<string, InstantImage>>;
}

/** A collection: a list whose records are found by id. */
export interface CollectionImage extends ListImage {
  readonly ids: IdIndexImage;
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

export interface SnapshotImage {
  readonly snapshotId: string;
  /** ISO 8601. */
  readonly producedAt: string;
  readonly organizations: readonly { readonly content: OrganizationImage; readonly history: HistoryImage }[];
}

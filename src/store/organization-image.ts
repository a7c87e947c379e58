import type { IdIndexImage } from './index/id-index.ts';
import type { InstantImage } from './index/instant-index.ts';
import type { PostingImage } from './index/posting-index.ts';
import type { Int64s, Uint32s } from './memory/shared-arrays.ts';
import type { RecordsImage } from './records.ts';

/**
 * What the loader hands over: plain objects of typed arrays over shared memory. A thread that receives it
 * shares the memory.
 */
export interface CollectionImage {
  readonly count: number;
  readonly records: RecordsImage;
  readonly ids: IdIndexImage;
  /** Posting lists by the name of what they index, such as `eventId`. */
  readonly postings: Readonly<Record<string, PostingImage>>;
  /** Orders by instant by the name of what they index, such as `updatedAt`. */
  readonly instants: Readonly<Record<string, InstantImage>>;
}

/**
 * Sessions stand by event, in the order of the events' rows, then by start, then by id.
 *
 *     firstOfEvent   sessions firstOfEvent[e] … firstOfEvent[e + 1] are those of event row e
 *     eventOf        event row of a session
 *     starts         start of a session, microseconds since the epoch
 *     startOrder     the sessions by start, over all events
 *     nextFields     for a session: the end of its event's record while it is the next session
 */
export interface SessionsImage extends CollectionImage {
  readonly firstOfEvent: Uint32s;
  readonly eventOf: Uint32s;
  readonly starts: Int64s;
  readonly startOrder: Uint32s;
  readonly nextFields: RecordsImage;
}

export interface OrganizationImage {
  readonly organizationId: string;
  readonly name: string;
  /** Digest of the organization's content, base64url: the same content gives the same digest. */
  readonly contentDigest: string;
  readonly events: CollectionImage;
  readonly sessions: SessionsImage;
  readonly tickets: CollectionImage;
  readonly orders: CollectionImage;
  readonly offers: CollectionImage;
  /** Bytes of shared memory that all of it holds. */
  readonly bytesHeld: number;
}

export interface SnapshotImage {
  readonly snapshotId: string;
  /** When it was produced, ISO 8601. */
  readonly producedAt: string;
  readonly organizations: readonly OrganizationImage[];
}

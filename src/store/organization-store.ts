import { NextSessions } from './next-sessions.ts';
import type { HistoryImage, OrganizationImage, SnapshotImage } from './organization-image.ts';

/**
 * The time when walks last used a store. It is a word of shared memory, which any thread may set: whole seconds of the
 * monotonic clock, 0 without a use.
 */
export class WalkMark {
  readonly word: Int32Array<SharedArrayBuffer>;

  constructor(word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.word = word;
  }

  /** Milliseconds of the monotonic clock, 0 without a use. */
  get lastUse(): number {
    return Atomics.load(this.word, 0) * 1000;
  }

  /**
   * Notes a use: a response with a link to a further page, or to such a link.
   * @param now milliseconds of the monotonic clock
   */
  noteUse(now: number): void {
    // Rounded up, so that no store is retained for less than the configured time.
    const second = Math.ceil(now / 1000);
    // Every page is a use. More than one write a second would only invalidate the caches of other processors.
    if (Atomics.load(this.word, 0) !== second) Atomics.store(this.word, 0, second);
  }
}

/** The snapshot of a store, and its place among those that the process has loaded for the organization. */
export interface StoreOrigin extends Pick<SnapshotImage, 'snapshotId' | 'producedAt'> {
  /** The latest production time of the organization that was live so far, microseconds since the epoch. */
  readonly latestInstant: bigint;
}

/** The data of an organization in one snapshot: immutable shared images, and state of the thread. */
export class OrganizationStore implements StoreOrigin {
  readonly organizationId: string;
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly latestInstant: bigint;
  readonly contentDigest: string;
  readonly image: OrganizationImage;
  readonly history: HistoryImage;
  /** Bytes of shared memory. */
  readonly bytesHeld: number;
  readonly nextSessions: NextSessions;
  /** Shared by all stores of the image, in every thread. */
  readonly walks: WalkMark;

  constructor(
    image: OrganizationImage,
    history: HistoryImage,
    { snapshotId, producedAt, latestInstant }: StoreOrigin,
    walks = new WalkMark(),
  ) {
    this.organizationId = image.organizationId;
    this.snapshotId = snapshotId;
    this.producedAt = producedAt;
    this.latestInstant = latestInstant;
    this.contentDigest = image.contentDigest;
    this.image = image;
    this.history = history;
    this.bytesHeld = image.bytesHeld + history.bytesHeld;
    this.nextSessions = new NextSessions(image.sessions);
    this.walks = walks;
  }
}

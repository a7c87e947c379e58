import { NextSessions } from './next-sessions.ts';
import type { AnyImage, DeletionsImage, OrganizationImage, SnapshotImage } from './organization-image.ts';

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

/** One part of an organization's data in one snapshot: an immutable shared image, and state of the thread. */
class PartStore<Image extends AnyImage> {
  readonly organizationId: string;
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly contentDigest: string;
  readonly image: Image;
  /** Bytes of shared memory. */
  readonly bytesHeld: number;
  /** Shared by all stores of the image, in every thread. */
  readonly walks: WalkMark;

  constructor(
    image: Image,
    { snapshotId, producedAt }: Pick<SnapshotImage, 'snapshotId' | 'producedAt'>,
    walks = new WalkMark(),
  ) {
    this.organizationId = image.organizationId;
    this.snapshotId = snapshotId;
    this.producedAt = producedAt;
    this.contentDigest = image.contentDigest;
    this.image = image;
    this.bytesHeld = image.bytesHeld;
    this.walks = walks;
  }
}

/** The content of an organization. */
export class OrganizationStore extends PartStore<OrganizationImage> {
  readonly nextSessions = new NextSessions(this.image.sessions);
}

/** The deletions of an organization, which are beside its content. */
export class DeletionsStore extends PartStore<DeletionsImage> {}

export type AnyStore = OrganizationStore | DeletionsStore;

import { NextSessions } from './next-sessions.ts';
import type { OrganizationImage, SnapshotImage } from './organization-image.ts';

/** Mark that a client may be walking a store. It is a word of shared memory, which any thread may set. */
export class WalkMark {
  readonly word: Int32Array<SharedArrayBuffer>;

  constructor(word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.word = word;
  }

  get isSet(): boolean {
    return Atomics.load(this.word, 0) !== 0;
  }

  set(): void {
    // Every link to a further page sets the mark. A further write would only invalidate the caches of other processors.
    if (!this.isSet) Atomics.store(this.word, 0, 1);
  }
}

/** The records of one organization in one snapshot: an immutable shared image, and state of the thread. */
export class OrganizationStore {
  readonly organizationId: string;
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly contentDigest: string;
  readonly image: OrganizationImage;
  readonly nextSessions: NextSessions;
  /** Bytes of shared memory. */
  readonly bytesHeld: number;
  /** Shared by all stores of the image, in every thread. */
  readonly walks: WalkMark;

  constructor(
    image: OrganizationImage,
    { snapshotId, producedAt }: Omit<SnapshotImage, 'organizations'>,
    walks = new WalkMark(),
  ) {
    this.organizationId = image.organizationId;
    this.snapshotId = snapshotId;
    this.producedAt = producedAt;
    this.contentDigest = image.contentDigest;
    this.image = image;
    this.nextSessions = new NextSessions(image.sessions);
    this.bytesHeld = image.bytesHeld;
    this.walks = walks;
  }
}

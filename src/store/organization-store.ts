import { NextSessions } from './next-sessions.ts';
import type { OrganizationImage, SnapshotImage } from './organization-image.ts';

/** Whether a client has walked, or is walking, the content of a store: a word of shared memory that any thread may set. */
export class WalkMark {
  readonly word: Int32Array<SharedArrayBuffer>;

  constructor(word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.word = word;
  }

  get isSet(): boolean {
    return Atomics.load(this.word, 0) !== 0;
  }

  set(): void {
    // Every link to a further page sets the mark. A store to a word that is set would only invalidate other caches.
    if (!this.isSet) Atomics.store(this.word, 0, 1);
  }
}

/** The records of one organization in one snapshot: an immutable shared image, and the state that a thread adds to it. */
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

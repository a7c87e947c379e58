import type { CollectionName } from '../contract/operations.ts';
import { NextSessions } from './next-sessions.ts';
import type { OrganizationImage, SnapshotImage } from './organization-image.ts';
import { openRecords, type Records } from './records.ts';

/** Whether somebody walks, or walked, over the content of a store: one word of shared memory, which any thread may set. */
export class WalkMark {
  readonly word: Int32Array<SharedArrayBuffer>;

  constructor(word = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.word = word;
  }

  get isSet(): boolean {
    return Atomics.load(this.word, 0) !== 0;
  }

  set(): void {
    // Each link to a further page comes here; what is set need not go to the other processors again.
    if (!this.isSet) Atomics.store(this.word, 0, 1);
  }
}

/** One organization's records of one snapshot, immutable, with what a thread keeps beside the shared image. */
export class OrganizationStore {
  readonly organizationId: string;
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly contentDigest: string;
  readonly image: OrganizationImage;
  readonly records: Readonly<Record<CollectionName, Records>>;
  /** Ends of the records of events, by the row of the next session. */
  readonly nextFields: Records;
  readonly nextSessions: NextSessions;
  /** Bytes of shared memory. */
  readonly bytesHeld: number;
  /** Is the image's: other stores of the same content, in other threads too, have the same. */
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
    this.records = {
      events: openRecords(image.events.records),
      sessions: openRecords(image.sessions.records),
      tickets: openRecords(image.tickets.records),
      orders: openRecords(image.orders.records),
      offers: openRecords(image.offers.records),
    };
    this.nextFields = openRecords(image.sessions.nextFields);
    this.nextSessions = new NextSessions(image.sessions);
    this.bytesHeld = image.bytesHeld;
    this.walks = walks;
  }
}

import type { CollectionName } from '../contract/operations.ts';
import { NextSessions } from './next-sessions.ts';
import type { OrganizationImage, SnapshotImage } from './organization-image.ts';
import { openRecords } from './records.ts';
import type { Records } from './records.ts';
import { WalkMark } from './walk-mark.ts';

/** One organization's records of one snapshot, immutable, with what a thread keeps beside the shared image. */
export class OrganizationStore {
  readonly organizationId: string;
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly digest: string;
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
    this.digest = image.digest;
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

import { IdIndexBuilder } from '../../src/store/index/id-index.ts';
import type {
  CollectionImage,
  OrganizationImage,
  SnapshotImage,
} from '../../src/store/organization-image.ts';
import { pack } from './pack.ts';

export function emptyCollection(idField: string): CollectionImage {
  return {
    count: 0,
    records: pack([]),
    ids: new IdIndexBuilder(0, idField).finish(),
    postings: {},
    instants: {},
  };
}

/** Returns the image of an organization without records. */
export function emptyImage(organizationId: string, contentDigest = 'digest'): OrganizationImage {
  const sessions = {
    ...emptyCollection('id'),
    firstOfEvent: new Uint32Array(1),
    eventOf: new Uint32Array(0),
    starts: new BigInt64Array(0),
    startOrder: new Uint32Array(0),
    nextFields: pack([]),
  };
  return {
    organizationId,
    contentDigest,
    events: emptyCollection('id'),
    sessions,
    tickets: emptyCollection('ticketId'),
    orders: emptyCollection('orderId'),
    offers: emptyCollection('offerId'),
    bytesHeld: 0,
  };
}

/** @param organizations `id`, or `id=digest` */
export function emptySnapshot(snapshotId: string, ...organizations: string[]): SnapshotImage {
  return {
    snapshotId,
    producedAt: '2026-11-21T04:00:00.000Z',
    organizations: organizations.map((text) => {
      const [id, digest] = text.split('=');
      return emptyImage(id, digest);
    }),
  };
}

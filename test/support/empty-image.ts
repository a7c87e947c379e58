import { byList } from '../../src/snapshot/format/layout.ts';
import type { ManifestOrganization } from '../../src/snapshot/format/manifest.ts';
import { IdIndexBuilder } from '../../src/store/index/id-index.ts';
import type {
  CollectionImage,
  DeletionsImage,
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

/** The SHA-256 of nothing, as in snapshots without deletions. */
const NO_DELETIONS = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU';

/** Returns the image of an organization without deletions. */
export function emptyDeletions(organizationId: string, contentDigest = NO_DELETIONS): DeletionsImage {
  const { count, records, postings, instants } = emptyCollection('id');
  return { organizationId, contentDigest, deletions: { count, records, postings, instants }, bytesHeld: 0 };
}

/** @param organizations `id`, `id=digest`, or `id=digest-deletionsDigest` */
export function emptySnapshot(snapshotId: string, ...organizations: string[]): SnapshotImage {
  const parts = organizations.map((text) => text.split(/[=-]/));
  return {
    snapshotId,
    producedAt: '2026-11-21T04:00:00.000Z',
    organizations: parts.map(([id, digest]) => emptyImage(id, digest)),
    deletions: parts.map(([id, , digest]) => emptyDeletions(id, digest)),
  };
}

/** Returns the declaration of an organization in a manifest, by default without runs. */
export function declaration(
  organizationId: string,
  runs: ManifestOrganization['runs'] = byList(() => []),
): ManifestOrganization {
  return { organizationId, name: organizationId, contentDigest: '', deletionsDigest: '', runs };
}

import { randomUUID } from 'node:crypto';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import type { ManifestOrganization } from '../../src/snapshot/format/manifest.ts';
import { lineageOf } from '../../src/store/history.ts';
import { IdIndexBuilder } from '../../src/store/index/id-index.ts';
import type {
  CollectionImage,
  OrganizationImage,
  SnapshotImage,
  HistoryImage,
} from '../../src/store/organization-image.ts';
import { OrganizationStore } from '../../src/store/organization-store.ts';
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

const PRODUCED_AT = '2026-11-21T04:00:00.000Z';

/** Returns the history of an organization without changes. */
export function emptyHistory(
  snapshotId = randomUUID(),
  instant = parseTimestamp(PRODUCED_AT) ?? 0n,
): HistoryImage {
  const none = { sorted: new BigInt64Array(0) };
  const changes = byCollection(() => ({
    changed: { ...none, rows: new Uint32Array(0) },
    deleted: { ...none, ids: pack([]) },
  }));
  return {
    lineage: lineageOf([[snapshotId, instant]]),
    since: instant,
    until: instant,
    changes,
    bytesHeld: 0,
  };
}

/** @param organizations `id`, or `id=digest` */
export function emptySnapshot(snapshotId: string, ...organizations: string[]): SnapshotImage {
  return {
    snapshotId,
    producedAt: PRODUCED_AT,
    organizations: organizations.map((text) => {
      const [id, digest] = text.split('=');
      return { content: emptyImage(id, digest), history: emptyHistory() };
    }),
  };
}

/** Returns a store of an image without changes. */
export function storeOf(image: OrganizationImage, history = emptyHistory()): OrganizationStore {
  return new OrganizationStore(image, history, {
    snapshotId: 'snapshot',
    producedAt: PRODUCED_AT,
    latestInstant: 0n,
  });
}

/** Returns the declaration of an organization in a manifest, by default without runs. */
export function declaration(
  organizationId: string,
  runs: ManifestOrganization['runs'] = byCollection(() => []),
): ManifestOrganization {
  const since = PRODUCED_AT;
  return {
    organizationId,
    name: organizationId,
    contentDigest: '',
    since,
    historyDigest: '',
    deletionCount: 0,
    deletionBytes: 0,
    runs,
  };
}

import { randomUUID } from 'node:crypto';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import { byCollection, COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import { type Manifest, type ManifestOrganization, NO_RECORDS } from '../../src/snapshot/format/manifest.ts';
import { newIdIndex } from '../../src/store/index/id-index.ts';
import { sharedUint32s } from '../../src/store/memory/shared-arrays.ts';
import {
  byList,
  type CollectionImage,
  type HistoryImage,
  lineageOf,
  type ListImage,
  type ListName,
  listOf,
  NO_SCHEDULE,
  type OrganizationImage,
  type SnapshotImage,
} from '../../src/store/organization-image.ts';
import type { Retention } from '../../src/store/registry/retention.ts';
import { findList, type OrganizationStore, type StoreView } from '../../src/store/registry/store-view.ts';
import { pack } from './pack.ts';

export function emptyCollection(idField: string): CollectionImage {
  return {
    count: 0,
    recordsSum: '0'.repeat(64),
    records: pack([]),
    ids: newIdIndex(0, idField),
    postings: {},
    instants: {},
  };
}

/** Returns a list without records. */
export function emptyList(name: ListName, digest: string): ListImage {
  const collections = Object.fromEntries(
    COLLECTIONS.filter((layout) => listOf(layout.name) === name).map((layout) => [
      layout.name,
      emptyCollection(layout.resource.id),
    ]),
  );
  return { name, digest, collections, schedule: NO_SCHEDULE, uses: sharedUint32s(2), bytesHeld: 0 };
}

/** Returns the image of an organization without records. */
export function emptyImage(organizationId: string, digest = 'digest'): OrganizationImage {
  const lists = byList((name) => emptyList(name, digest));
  return { organizationId, lists, history: emptyHistory() };
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
    name: 'history',
    digest: randomUUID(),
    lineage: lineageOf([[snapshotId, instant]]),
    since: instant,
    until: instant,
    changes,
    uses: sharedUint32s(2),
    bytesHeld: 0,
  };
}

/** Retains what walks have used, and nothing else. */
export const WALKED: Retention = {
  snapshotRetainSeconds: Infinity,
  snapshotRetainMaxSeconds: Infinity,
  snapshotRetainUnwalkedSeconds: 0,
};

/** @param organizations `id`, or `id=digest` */
export function emptySnapshot(snapshotId: string, ...organizations: string[]): SnapshotImage {
  const images = organizations.map((text) => {
    const [id, digest] = text.split('=');
    return emptyImage(id, digest);
  });
  return { snapshotId, producedAt: PRODUCED_AT, organizations: images };
}

/** Returns the live store of an image. */
export function storeOf(image: OrganizationImage): OrganizationStore {
  return { ...image, snapshotId: 'snapshot', producedAt: PRODUCED_AT, latestInstant: 0n, retained: [] };
}

/** Returns a list of a view, live or retained, with the snapshot that has it. */
export function listIn(view: StoreView, organizationId: string, list: ListName, digest: string) {
  const store = view.get(organizationId);
  return store && findList(store, list, digest);
}

/** Returns the declaration of an organization in a manifest, by default without records. */
export function declaration(
  organizationId: string,
  lists: Partial<ManifestOrganization['lists']> = {},
): ManifestOrganization {
  return {
    organizationId,
    name: organizationId,
    since: PRODUCED_AT,
    deletionsDigest: '',
    deletionCount: 0,
    deletionBytes: 0,
    lists: { ...byCollection(() => NO_RECORDS), ...lists },
  };
}

/** Returns a manifest without ancestors, by default without permits and organizations. */
export function manifest(snapshotId: string, more: Partial<Manifest> = {}): Manifest {
  const without = { permits: [], ancestors: [], organizations: [] };
  return { snapshotId, producedAt: '', epoch: '', changesSince: '', ...without, ...more };
}

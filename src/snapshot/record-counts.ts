import type { CollectionName } from '../contract/operations.ts';
import type { OrganizationImage } from '../store/organization-image.ts';
import { byCollection } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';

/** How many records an organization has, by collection. */
export type RecordCounts = Readonly<Record<CollectionName, number>>;

/** What a snapshot file declares. */
export function declaredCounts({ segments }: ManifestOrganization): RecordCounts {
  return byCollection(({ table }) => segmentOf(segments, table).rowCount);
}

/** What is in memory. */
export function countsOf(image: OrganizationImage): RecordCounts {
  return byCollection(({ name }) => image[name].count);
}

export function totalOf(counts: RecordCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

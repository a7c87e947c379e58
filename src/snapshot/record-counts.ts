import type { CollectionName } from '../contract/operations.ts';
import type { OrganizationImage } from '../store/organization-image.ts';
import { byCollection } from './format/layout.ts';
import { rowCount } from './format/manifest.ts';
import type { ManifestOrganization } from './format/manifest.ts';

/** How many records an organization has, by collection. */
export type RecordCounts = Readonly<Record<CollectionName, number>>;

/** Returns what a snapshot file declares. */
export function declaredCounts({ runs }: ManifestOrganization): RecordCounts {
  return byCollection(({ name }) => rowCount(runs[name]));
}

/** Returns what is in memory. */
export function countsOf(image: OrganizationImage): RecordCounts {
  return byCollection(({ name }) => image[name].count);
}

export function totalOf(counts: RecordCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

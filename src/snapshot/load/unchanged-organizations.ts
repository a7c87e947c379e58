import type { Instant } from '../../contract/timestamp.ts';
import type { Admitted } from '../../store/registry/store-view.ts';
import { instantOf, type Manifest } from '../format/manifest.ts';
import type { FileHistory } from './collection-loader.ts';

/**
 * Finds the organizations that need not be loaded: those with the same records as the live snapshot, and no change since.
 * @param hasChanges returns whether the file of changes has some of an organization after a time
 */
export function unchangedOf(
  { organizations }: Manifest,
  { changesSince }: FileHistory,
  same: Admitted['same'],
  hasChanges: (organizationId: string, after: Instant) => boolean,
): ReadonlySet<string> {
  if (same === undefined || changesSince === undefined || changesSince > same.until) return new Set();
  const { until, organizationIds } = same;
  const unchanged = organizations.filter(
    ({ organizationId, since }) =>
      organizationIds.has(organizationId) && instantOf(since) <= until && !hasChanges(organizationId, until),
  );
  return new Set(unchanged.map(({ organizationId }) => organizationId));
}

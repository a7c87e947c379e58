import { availableParallelism } from 'node:os';
import type { ManifestOrganization } from './manifest.ts';
import { MEGABYTE } from './memory-limit.ts';

/** Below this many bytes of records an organization is read before a second thread has started. */
export const LEAST_SHARED_BYTES = 64 * MEGABYTE;

/** Whether two threads read an organization, where there are two: it has `least` bytes of records. */
export function isShared({ segments }: ManifestOrganization, least: number): boolean {
  return segments.values().reduce((sum, { recordBytes }) => sum + recordBytes, 0) >= least;
}

/** Whether a second thread has something to read, and a processor to do so. */
export function isWorthSharing(organizations: readonly ManifestOrganization[], least: number): boolean {
  return availableParallelism() > 1 && organizations.some((organization) => isShared(organization, least));
}

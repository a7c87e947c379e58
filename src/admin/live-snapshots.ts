import type { OrganizationStore } from '../store/organization-store.ts';
import type { StoreRegistry } from '../store/store-registry.ts';

/** A snapshot file whose organizations are served. */
export interface LiveSnapshot {
  readonly file: string;
  /** Whether it is there still; what it held is served either way. */
  readonly isFilePresent: boolean;
  readonly snapshotId: string;
  readonly producedAt: string;
  /** Since it was produced; 0 when that is in the future. */
  readonly ageSeconds: number;
  readonly organizations: readonly OrganizationStore[];
}

/** What is live, by file name, as of `now` in milliseconds since the epoch. */
export function liveSnapshots({ live }: StoreRegistry, now: number): LiveSnapshot[] {
  const byFile = Map.groupBy(live.values(), ({ file }) => file);
  return [...byFile]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, organizations]) => {
      // The organizations of a file come and go together, so they are of one snapshot.
      const [{ isFilePresent, store }] = organizations;
      const { snapshotId, producedAt } = store;
      return {
        file,
        isFilePresent,
        snapshotId,
        producedAt,
        ageSeconds: Math.max(0, now - Date.parse(producedAt)) / 1000,
        organizations: organizations.map((organization) => organization.store),
      };
    });
}

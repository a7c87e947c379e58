import { type ReadOptions, readOrganizations } from '../../src/snapshot/load/read-snapshot.ts';
import type { DeletionsImage, OrganizationImage, SnapshotImage } from '../../src/store/organization-image.ts';

/** Reads a snapshot file as the loader does, on this thread. */
export function readSnapshot(path: string, options: ReadOptions = {}): SnapshotImage {
  const organizations: OrganizationImage[] = [];
  const deletions: DeletionsImage[] = [];
  const { snapshotId, producedAt } = readOrganizations(path, options, (organization, deletionsOf) => {
    organizations.push(organization);
    deletions.push(deletionsOf);
  });
  return { snapshotId, producedAt, organizations, deletions };
}

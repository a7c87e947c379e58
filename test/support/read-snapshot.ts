import { type ReadOptions, readOrganizations } from '../../src/snapshot/load/read-snapshot.ts';
import type { OrganizationImage, SnapshotImage } from '../../src/store/organization-image.ts';

/** Reads a snapshot file as the loader does, on this thread. */
export function readSnapshot(path: string, options: ReadOptions = {}): SnapshotImage {
  const organizations: OrganizationImage[] = [];
  const { snapshotId, producedAt } = readOrganizations(path, options, (image) => {
    organizations.push(image);
  });
  return { snapshotId, producedAt, organizations };
}

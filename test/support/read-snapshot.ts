import { type ReadOptions, readOrganizations } from '../../src/snapshot/load/read-snapshot.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';

/** Reads a snapshot file as the loader does, on this thread. */
export function readSnapshot(path: string, options: ReadOptions = {}): SnapshotImage {
  const organizations: SnapshotImage['organizations'][number][] = [];
  const { snapshotId, producedAt } = readOrganizations(path, options, (content, history) => {
    organizations.push({ content, history });
  });
  return { snapshotId, producedAt, organizations };
}

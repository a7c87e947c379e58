import type { CollectionName } from '../contract/operations.ts';
import type { Fingerprints } from './fingerprints.ts';
import { inspectSnapshot } from './inspect-snapshot.ts';
import { byCollection } from './layout.ts';
import type { OnProgress } from './read-content.ts';
import { readFingerprints } from './read-fingerprints.ts';
import { declaredCounts } from './record-counts.ts';
import type { RecordCounts } from './record-counts.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/** What changed from one snapshot to another. */
export interface SnapshotDiff {
  readonly before: SnapshotName;
  readonly after: SnapshotName;
  /** Those of both, by their ids. */
  readonly organizations: readonly OrganizationDiff[];
}

interface SnapshotName {
  readonly snapshotId: string;
  readonly producedAt: string;
}

export type OrganizationDiff =
  | { readonly organizationId: string; readonly state: 'added'; readonly after: RecordCounts }
  | { readonly organizationId: string; readonly state: 'removed'; readonly before: RecordCounts }
  | { readonly organizationId: string; readonly state: 'unchanged' }
  | {
      readonly organizationId: string;
      readonly state: 'changed';
      readonly before: RecordCounts;
      readonly after: RecordCounts;
      readonly records: Readonly<Record<CollectionName, RecordsDiff>>;
    };

/** Ids in list order: `added` and `changed` in that of the second snapshot, `removed` in that of the first. */
export interface RecordsDiff {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Compares two snapshot files. An organization that has the same digest in both, or is in one alone, is not read. Of
 * the others all that is served of each record is compared, one organization at a time: that takes about 200 bytes of
 * memory for each record of it, in each file.
 *
 * @throws RefusedSnapshot whose message, other than elsewhere, names the file
 */
export function diffSnapshots(before: string, after: string, onProgress?: OnProgress): SnapshotDiff {
  const [a, b] = [before, after].map(sideOf);
  const organizations: OrganizationDiff[] = [];
  for (const [organizationId, was] of a.organizations) {
    if (b.organizations.has(organizationId)) continue;
    organizations.push({ organizationId, state: 'removed', before: declaredCounts(was) });
  }
  for (const [organizationId, is] of b.organizations) {
    const was = a.organizations.get(organizationId);
    if (was === undefined) organizations.push({ organizationId, state: 'added', after: declaredCounts(is) });
    else if (was.digest === is.digest) organizations.push({ organizationId, state: 'unchanged' });
    else {
      const earlier = naming(before, () => readFingerprints(before, was, onProgress));
      const later = naming(after, () => readFingerprints(after, is, onProgress));
      organizations.push({
        organizationId,
        state: 'changed',
        before: declaredCounts(was),
        after: declaredCounts(is),
        records: byCollection(({ name }) => compareRecords(earlier[name], later[name])),
      });
    }
  }
  organizations.sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  return { before: a.name, after: b.name, organizations };
}

function sideOf(path: string) {
  const { snapshotId, producedAt, organizations } = naming(path, () => inspectSnapshot(path));
  return {
    name: { snapshotId, producedAt },
    organizations: new Map(organizations.map((organization) => [organization.organizationId, organization])),
  };
}

function naming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw new RefusedSnapshot(error.reason, `${path}: ${error.message}`);
  }
}

function compareRecords(was: Fingerprints, is: Fingerprints): RecordsDiff {
  const added: string[] = [];
  const changed: string[] = [];
  for (const id of is.ids) {
    const earlier = was.of(id);
    if (earlier === undefined) added.push(id);
    else if (is.of(id)?.equals(earlier) === false) changed.push(id);
  }
  return { added, changed, removed: was.ids.filter((id) => is.of(id) === undefined) };
}

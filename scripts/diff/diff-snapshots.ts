import type { CollectionName } from '../../src/contract/operations.ts';
import { byCollection, COLLECTIONS, type CollectionLayout } from '../../src/snapshot/format/layout.ts';
import {
  contentDigest,
  declaredCounts,
  type ManifestOrganization,
  type RecordCounts,
} from '../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { type OpenSnapshot, openSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { asRefusal } from '../../src/snapshot/format/snapshot-file.ts';
import { Block, duplicateId } from '../../src/snapshot/load/block.ts';
import { SnapshotReader } from '../../src/snapshot/load/snapshot-reader.ts';
import { type OnProgress, recordCounter } from '../../src/snapshot/load/read-snapshot.ts';

/** The changes from one snapshot to another. */
export interface SnapshotDiff {
  readonly before: SnapshotName;
  readonly after: SnapshotName;
  /** The organizations of both snapshots, in id order. */
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

/** Ids in list order: of the later snapshot for `added` and `changed`, of the earlier one for `removed`. */
export interface RecordsDiff {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Compares two snapshot files.
 * Reads only lists that both have with different records. Takes about 200 bytes of memory for each of them.
 * @throws RefusedSnapshot; unlike elsewhere, its message names the file
 */
export function diffSnapshots(before: string, after: string, onProgress?: OnProgress): SnapshotDiff {
  using a = new Side(before);
  using b = new Side(after);
  const organizations: OrganizationDiff[] = [];
  const onBlock = recordCounter(recordsToRead(a, b), onProgress);
  for (const [organizationId, earlier] of a.organizations) {
    if (b.organizations.has(organizationId)) continue;
    organizations.push({ organizationId, state: 'removed', before: declaredCounts(earlier) });
  }
  for (const [organizationId, later] of b.organizations) {
    const earlier = a.organizations.get(organizationId);
    if (earlier === undefined)
      organizations.push({ organizationId, state: 'added', after: declaredCounts(later) });
    else if (contentDigest(earlier) === contentDigest(later))
      organizations.push({ organizationId, state: 'unchanged' });
    else {
      organizations.push({
        organizationId,
        state: 'changed',
        before: declaredCounts(earlier),
        after: declaredCounts(later),
        records: byCollection((layout) => {
          if (isSame(earlier, later, layout)) return { added: [], changed: [], removed: [] };
          const digests = [a, b].map((side) => side.digests(layout, organizationId, onBlock));
          return compareRecords(digests[0], digests[1]);
        }),
      });
    }
  }
  organizations.sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  return { before: a.name, after: b.name, organizations };
}

function isSame(a: ManifestOrganization, b: ManifestOrganization, { name }: CollectionLayout): boolean {
  return a.lists[name].recordsSum === b.lists[name].recordsSum;
}

/** Returns the number of records in lists that differ, of the organizations of both snapshots. */
function recordsToRead(a: Side, b: Side): number {
  let records = 0;
  for (const [organizationId, earlier] of a.organizations) {
    const later = b.organizations.get(organizationId);
    if (later === undefined) continue;
    for (const layout of COLLECTIONS) {
      if (isSame(earlier, later, layout)) continue;
      records += earlier.lists[layout.name].recordCount + later.lists[layout.name].recordCount;
    }
  }
  return records;
}

/** One of the two snapshot files, open. */
class Side implements Disposable {
  readonly name: SnapshotName;
  readonly organizations: ReadonlyMap<string, ManifestOrganization>;
  readonly #path: string;
  readonly #snapshot: OpenSnapshot;
  readonly #reader: SnapshotReader;

  constructor(path: string) {
    this.#path = path;
    this.#snapshot = naming(path, () => openSnapshot(path));
    this.#reader = new SnapshotReader(this.#snapshot);
    const { snapshotId, producedAt } = this.#snapshot.manifest;
    this.name = { snapshotId, producedAt };
    this.organizations = this.#reader.organizations;
  }

  /** Returns the digests of the records of a collection by id, in list order. Checks that of the list. */
  digests(
    layout: CollectionLayout,
    organizationId: string,
    onBlock: ReturnType<typeof recordCounter>,
  ): ReadonlyMap<string, bigint> {
    return naming(this.#path, () => {
      const digests = new Map<string, bigint>();
      for (const stored of this.#reader.readList(layout, organizationId)) {
        const block = new Block(layout, stored);
        for (const i of block.rows.keys()) {
          const id = block.idAt(i);
          if (digests.has(id)) throw duplicateId(layout, id);
          digests.set(id, block.digestAt(i));
        }
        onBlock(block);
      }
      return digests;
    });
  }

  [Symbol.dispose](): void {
    this.#snapshot[Symbol.dispose]();
  }
}

/** Runs `work`, and puts the path before the message of a refusal. */
function naming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const error = asRefusal(thrown);
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw new RefusedSnapshot(error.reason, `${path}: ${error.message}`);
  }
}

function compareRecords(
  before: ReadonlyMap<string, bigint>,
  after: ReadonlyMap<string, bigint>,
): RecordsDiff {
  const added: string[] = [];
  const changed: string[] = [];
  for (const [id, digest] of after) {
    const earlier = before.get(id);
    if (earlier === undefined) added.push(id);
    else if (earlier !== digest) changed.push(id);
  }
  const removed = [...before.keys()].filter((id) => !after.has(id));
  return { added, changed, removed };
}

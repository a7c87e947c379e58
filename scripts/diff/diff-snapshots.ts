import { hash } from 'node:crypto';
import type { CollectionName } from '../../src/contract/operations.ts';
import { parseObject, textIn } from '../../src/snapshot/format/json-values.ts';
import {
  byCollection,
  COLLECTIONS,
  type CollectionLayout,
  OFFERS,
  SESSIONS,
} from '../../src/snapshot/format/layout.ts';
import {
  declaredCounts,
  type ManifestOrganization,
  type RecordCounts,
  type RunEntry,
} from '../../src/snapshot/format/manifest.ts';
import { inconsistent, RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { asRefusal, type OpenSnapshot, openSnapshot } from '../../src/snapshot/format/snapshot-file.ts';
import { type OnProgress, runCounter } from '../../src/snapshot/load/read-snapshot.ts';
import { duplicateId, type Run, RunReader } from '../../src/snapshot/load/run-reader.ts';
import { decodeText } from '../../src/store/index/texts.ts';

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
 * Reads only organizations that both have with different digests, and of these only the runs that differ. Takes about
 * 200 bytes of memory for each record of these runs.
 * @throws RefusedSnapshot; unlike elsewhere, its message names the file
 */
export function diffSnapshots(before: string, after: string, onProgress?: OnProgress): SnapshotDiff {
  using a = new Side(before);
  using b = new Side(after);
  const organizations: OrganizationDiff[] = [];
  const onRun = runCounter(recordsToRead(a, b), onProgress);
  for (const [organizationId, earlier] of a.organizations) {
    if (b.organizations.has(organizationId)) continue;
    organizations.push({ organizationId, state: 'removed', before: declaredCounts(earlier) });
  }
  for (const [organizationId, later] of b.organizations) {
    const earlier = a.organizations.get(organizationId);
    if (earlier === undefined)
      organizations.push({ organizationId, state: 'added', after: declaredCounts(later) });
    else if (earlier.contentDigest === later.contentDigest)
      organizations.push({ organizationId, state: 'unchanged' });
    else {
      organizations.push({
        organizationId,
        state: 'changed',
        before: declaredCounts(earlier),
        after: declaredCounts(later),
        records: byCollection((layout) =>
          compareRecords(
            a.fingerprints(layout, organizationId, runsOnlyIn(earlier, later, layout), onRun),
            b.fingerprints(layout, organizationId, runsOnlyIn(later, earlier, layout), onRun),
          ),
        ),
      });
    }
  }
  organizations.sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  return { before: a.name, after: b.name, organizations };
}

/** Returns the runs of a list that the other snapshot lacks. Runs with the same digest have the same records. */
function runsOnlyIn(
  { runs }: ManifestOrganization,
  other: ManifestOrganization,
  { name }: CollectionLayout,
): RunEntry[] {
  const digests = new Set(other.runs[name].map(({ digest }) => digest));
  return runs[name].filter(({ digest }) => !digests.has(digest));
}

/** Returns the number of records in runs that only one of two snapshots has, of the organizations of both. */
function recordsToRead(a: Side, b: Side): number {
  let records = 0;
  for (const [organizationId, earlier] of a.organizations) {
    const later = b.organizations.get(organizationId);
    if (later === undefined) continue;
    for (const layout of COLLECTIONS) {
      const runs = [...runsOnlyIn(earlier, later, layout), ...runsOnlyIn(later, earlier, layout)];
      for (const { recordCount } of runs) records += recordCount;
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

  constructor(path: string) {
    this.#path = path;
    this.#snapshot = naming(path, () => openSnapshot(path));
    const { snapshotId, producedAt, organizations } = this.#snapshot.manifest;
    this.name = { snapshotId, producedAt };
    this.organizations = new Map(organizations.map((one) => [one.organizationId, one]));
  }

  /** Reads runs of a collection and checks their digests. */
  fingerprints(
    layout: CollectionLayout,
    organizationId: string,
    entries: readonly RunEntry[],
    onRun: ReturnType<typeof runCounter>,
  ): Fingerprints {
    return naming(this.#path, () => {
      const reader = new RunReader(this.#snapshot.database);
      const fingerprints = new Map<string, string>();
      for (const entry of entries) {
        const run = reader.read(layout, organizationId, entry);
        run.checkDigest();
        const eventIds = unservedEventIds(layout, run);
        let start = 0;
        for (const [i, length] of run.lengths().entries()) {
          const text = run.records.toString('utf8', start, start + length);
          start += length + 1;
          const id = textIn(parseObject(text)?.[layout.resource.id]);
          if (id === '') {
            const place = `record ${entry.firstRow + i} of ${layout.table}`;
            throw inconsistent(`${place} is not the JSON text of a record with its id`);
          }
          if (fingerprints.has(id)) throw duplicateId(layout, id);
          fingerprints.set(id, hash('sha256', `${text}\n${eventIds[i] ?? ''}`, 'base64url'));
        }
        onRun(layout, entry);
      }
      return fingerprints;
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

function compareRecords(before: Fingerprints, after: Fingerprints): RecordsDiff {
  const added: string[] = [];
  const changed: string[] = [];
  for (const [id, fingerprint] of after) {
    const earlier = before.get(id);
    if (earlier === undefined) added.push(id);
    else if (earlier !== fingerprint) changed.push(id);
  }
  const removed = [...before.keys()].filter((id) => !after.has(id));
  return { added, changed, removed };
}

/** For each record by id, in list order, the SHA-256 of its served content. */
type Fingerprints = ReadonlyMap<string, string>;

/** Returns for each record, as text, the events that it belongs to but does not name. */
function unservedEventIds(layout: CollectionLayout, run: Run): readonly string[] {
  if (layout === SESSIONS) {
    const { texts, textOf } = run.texts('event_id');
    return Array.from(textOf, (text) => decodeText(texts, text));
  }
  if (layout === OFFERS) {
    const { texts, counts } = run.lists('event_ids');
    let next = 0;
    return Array.from(counts, (length) => {
      const eventIds = Array.from({ length }, () => decodeText(texts, next++));
      // Lists have no order.
      return JSON.stringify(eventIds.sort());
    });
  }
  return [];
}

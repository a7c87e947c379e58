import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { CollectionName } from '../../src/contract/operations.ts';
import { parseObject, textIn } from '../../src/snapshot/format/json-values.ts';
import { byCollection, type CollectionLayout, OFFERS, SESSIONS } from '../../src/snapshot/format/layout.ts';
import {
  declaredCounts,
  type ManifestOrganization,
  readManifest,
  type RecordCounts,
  type RunEntry,
} from '../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { RECORDS_COLUMN } from '../../src/snapshot/format/schema.ts';
import { asRefusal, openSnapshot } from '../../src/snapshot/format/snapshot-file.ts';
import type { OnProgress } from '../../src/snapshot/load/read-snapshot.ts';
import {
  checkRunDigest,
  columnOf,
  duplicateId,
  lengthsOf,
  listsOf,
  type Run,
  RunReader,
  textsOf,
} from '../../src/snapshot/load/run-reader.ts';
import { decodeText } from '../../src/store/index/texts.ts';

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
 * Compares two snapshot files. An organization with the same digest in both, or in one alone, is not read; of the others,
 * only the runs that are not in both. That takes about 200 bytes of memory for each record of these runs.
 *
 * @throws RefusedSnapshot whose message, other than elsewhere, names the file
 */
export function diffSnapshots(before: string, after: string, onProgress?: OnProgress): SnapshotDiff {
  using a = new Side(before);
  using b = new Side(after);
  const organizations: OrganizationDiff[] = [];
  for (const [organizationId, was] of a.organizations) {
    if (b.organizations.has(organizationId)) continue;
    organizations.push({ organizationId, state: 'removed', before: declaredCounts(was) });
  }
  for (const [organizationId, is] of b.organizations) {
    const was = a.organizations.get(organizationId);
    if (was === undefined) organizations.push({ organizationId, state: 'added', after: declaredCounts(is) });
    else if (was.contentDigest === is.contentDigest)
      organizations.push({ organizationId, state: 'unchanged' });
    else {
      organizations.push({
        organizationId,
        state: 'changed',
        before: declaredCounts(was),
        after: declaredCounts(is),
        records: byCollection((layout) => {
          const earlier = a.fingerprints(layout, organizationId, runsBeside(was, is, layout), onProgress);
          const later = b.fingerprints(layout, organizationId, runsBeside(is, was, layout), onProgress);
          return compareRecords(earlier, later);
        }),
      });
    }
  }
  organizations.sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  return { before: a.name, after: b.name, organizations };
}

/** Returns the runs of a collection that another snapshot does not have. The records of a run that both have are the same. */
function runsBeside(
  { runs }: ManifestOrganization,
  other: ManifestOrganization,
  { name }: CollectionLayout,
): RunEntry[] {
  const digests = new Set(other.runs[name].map(({ digest }) => digest));
  return runs[name].filter(({ digest }) => !digests.has(digest));
}

/** One of the two snapshot files, open. */
class Side implements Disposable {
  readonly name: SnapshotName;
  readonly organizations: ReadonlyMap<string, ManifestOrganization>;
  readonly #path: string;
  readonly #database: Database.Database;
  readonly #reader: RunReader;

  constructor(path: string) {
    this.#path = path;
    const { database, bytes } = naming(path, () => openSnapshot(path));
    this.#database = database;
    try {
      const { snapshotId, producedAt, organizations } = naming(path, () => readManifest(database, bytes));
      this.name = { snapshotId, producedAt };
      this.organizations = new Map(organizations.map((one) => [one.organizationId, one]));
      this.#reader = new RunReader(database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  fingerprints(
    layout: CollectionLayout,
    organizationId: string,
    runs: readonly RunEntry[],
    onProgress?: OnProgress,
  ): Fingerprints {
    return naming(this.#path, () => readFingerprints(this.#reader, layout, organizationId, runs, onProgress));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function naming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const error = asRefusal(thrown);
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw new RefusedSnapshot(error.reason, `${path}: ${error.message}`);
  }
}

function compareRecords(was: Fingerprints, is: Fingerprints): RecordsDiff {
  const added: string[] = [];
  const changed: string[] = [];
  for (const [id, fingerprint] of is) {
    const earlier = was.get(id);
    if (earlier === undefined) added.push(id);
    else if (earlier !== fingerprint) changed.push(id);
  }
  return {
    added,
    changed,
    removed: was
      .keys()
      .filter((id) => !is.has(id))
      .toArray(),
  };
}

/** The fingerprint of each record by its id, in list order. */
export type Fingerprints = ReadonlyMap<string, string>;

/**
 * Reads some runs of a collection, and checks their digests. A fingerprint is the SHA-256 over all that is served of a
 * record.
 * @throws RefusedSnapshot
 */
export function readFingerprints(
  reader: RunReader,
  layout: CollectionLayout,
  organizationId: string,
  entries: readonly RunEntry[],
  onProgress?: OnProgress,
): Fingerprints {
  const fingerprints = new Map<string, string>();
  for (const entry of entries) {
    const run = reader.read(layout, organizationId, entry);
    checkRunDigest(layout, organizationId, entry, run);
    for (const [id, fingerprint] of runFingerprints(layout, entry, run)) {
      if (fingerprints.has(id)) throw duplicateId(layout, id);
      fingerprints.set(id, fingerprint);
    }
    onProgress?.(organizationId, layout.name, fingerprints.size);
  }
  return fingerprints;
}

function* runFingerprints(
  layout: CollectionLayout,
  entry: RunEntry,
  run: Run,
): Generator<[id: string, fingerprint: string]> {
  const lengths = lengthsOf(layout, entry, run);
  const beside = textsBeside(layout, entry, run);
  const records = columnOf(run, RECORDS_COLUMN);
  let start = 0;
  for (const [i, length] of lengths.entries()) {
    const record = records.toString('utf8', start, start + length);
    const id = textIn(parseObject(record)?.[layout.resource.id]);
    if (id === '')
      throw new RefusedSnapshot(
        'inconsistent',
        `record ${entry.firstRow + i} of ${layout.table} is not the JSON text of a record with its id`,
      );
    yield [id, hash('sha256', `${record}\n${beside[i] ?? ''}`, 'base64url')];
    start += length + 1;
  }
}

/** Returns for each record, as text, the events that it does not name itself. */
function textsBeside(layout: CollectionLayout, entry: RunEntry, run: Run): readonly string[] {
  if (layout === SESSIONS) {
    const { texts, textOf } = textsOf(layout, 'event_id', entry, run);
    return Array.from(textOf, (text) => decodeText(texts, text));
  }
  if (layout === OFFERS) {
    const { texts, counts } = listsOf(layout, 'event_ids', entry, run);
    let next = 0;
    return Array.from(counts, (length) => {
      const eventIds = Array.from({ length }, () => decodeText(texts, next++));
      // The order of a list does not matter.
      return JSON.stringify(eventIds.sort());
    });
  }
  return [];
}

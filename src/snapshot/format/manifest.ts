import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTION_NAMES } from '../../contract/resources.ts';
import { type Instant, isServedForm, parseTimestamp } from '../../contract/timestamp.ts';
import { PACKED_BELOW_BYTES } from '../../store/memory/image-memory.ts';
import type { ListName, SnapshotOrigin } from '../../store/organization-image.ts';
import { byCollection, COLLECTIONS, layoutsOf } from './layout.ts';
import { damaged, inconsistent } from './refused-snapshot.ts';
import { sumText } from './schema.ts';

/**
 * Permits that a publisher may give to one snapshot. With `rollback`, it may be older than the live one. With `shrink`,
 * it may lack a live organization or more than half of a collection. The table `snapshot` has a column for each.
 */
export const PERMITS = ['rollback', 'shrink'] as const;
export type Permit = (typeof PERMITS)[number];

/** Declared content of a snapshot: the tables `snapshot`, `ancestors`, `organizations` and `runs`. */
export interface Manifest extends SnapshotOrigin {
  /** Whether all runs are cut by the rule of the builder, which copies them from a base where they stay the same. */
  readonly hasCanonicalRuns: boolean;
  readonly permits: readonly Permit[];
  /** The snapshots from which it descends, earliest first. */
  readonly ancestors: readonly SnapshotOrigin[];
  /** In id order. */
  readonly organizations: readonly ManifestOrganization[];
}

/** What the runs of a collection have besides records. */
export interface ColumnSizes {
  /** Bytes of the columns of texts and lists. */
  readonly bytes: number;
  /** Elements of the lists, at most. */
  readonly elements: number;
  /** Bytes of all columns of the largest run. */
  readonly largestRun: number;
}

export interface ManifestOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly contentDigest: string;
  /** Production time of the snapshot with which its history began. */
  readonly since: string;
  readonly historyDigest: string;
  readonly deletionCount: number;
  /** Bytes of the ids of its deletions. */
  readonly deletionBytes: number;
  /** In list order. */
  readonly runs: Runs;
  readonly columns: Readonly<Record<CollectionName, ColumnSizes>>;
}

type Runs = Readonly<Record<CollectionName, readonly RunEntry[]>>;
export type DeclaredOrganization = Omit<ManifestOrganization, 'columns'>;

export interface RunEntry {
  readonly firstRow: number;
  readonly recordCount: number;
  /** Length of the column `records`. */
  readonly recordBytes: number;
  readonly digest: string;
  /** Sum of the digests of its records, as of `sumText`. */
  readonly recordsSum: string;
  readonly changesDigest: string;
}

export function recordBytes(runs: readonly RunEntry[]): number {
  return runs.reduce((sum, one) => sum + one.recordBytes, 0);
}

/** Returns whether a collection is so small that its image is packed into one buffer and shares no runs. */
export function isPacked(runs: readonly RunEntry[]): boolean {
  return recordBytes(runs) < PACKED_BELOW_BYTES;
}

export function rowCount(runs: readonly RunEntry[]): number {
  const last = runs.at(-1);
  return last === undefined ? 0 : last.firstRow + last.recordCount;
}

export function recordsIn({ organizations }: Pick<Manifest, 'organizations'>): number {
  let records = 0;
  for (const { runs } of organizations) for (const { name } of COLLECTIONS) records += rowCount(runs[name]);
  return records;
}

export type RecordCounts = Readonly<Record<CollectionName, number>>;

export function declaredCounts({ runs }: ManifestOrganization): Record<CollectionName, number> {
  return byCollection(({ name }) => rowCount(runs[name]));
}

/** Computes the content digest of an organization, base64url. It covers a JSON line for each run. */
export function contentDigest(runs: Runs): string {
  return linesDigest(
    COLLECTIONS.flatMap(({ name }) =>
      runs[name].map((one) => [name, one.recordCount, one.recordBytes, one.digest, one.recordsSum]),
    ),
  );
}

/**
 * Computes the digest of a list, base64url, which its image has. It covers a JSON line for each collection, and depends
 * on the records alone, not on how they are cut into runs.
 */
export function listDigest(runs: Runs, list: ListName): string {
  return linesDigest(
    layoutsOf(list).map(({ name }) => {
      return [name, rowCount(runs[name]), recordsSum(runs[name])];
    }),
  );
}

/** Returns the sum of the digests of the records of runs. */
export function recordsSum(runs: readonly RunEntry[]): string {
  return sumText(runs.reduce((sum, one) => sum + BigInt(`0x${one.recordsSum}`), 0n));
}

/** Computes a digest, base64url, over lines of JSON. */
function linesDigest(...parts: Iterable<readonly (string | number)[]>[]): string {
  const hash = createHash('sha256');
  for (const lines of parts) for (const line of lines) hash.update(`${JSON.stringify(line)}\n`);
  return hash.digest('base64url');
}

export type DigestedManifest = Omit<Manifest, 'organizations'> & {
  readonly organizations: readonly Omit<DeclaredOrganization, 'deletionCount' | 'deletionBytes' | 'runs'>[];
};

/** Computes the manifest digest, base64url: a JSON line for the snapshot, each ancestor, and each organization. */
export function manifestDigest(manifest: DigestedManifest): string {
  const { snapshotId, producedAt, hasCanonicalRuns, permits } = manifest;
  return linesDigest(
    [[snapshotId, producedAt, Number(hasCanonicalRuns), ...permitValues(permits)]],
    manifest.ancestors.map((one) => [one.snapshotId, one.producedAt]),
    manifest.organizations.map(({ organizationId, name, contentDigest: content, since, historyDigest }) => {
      return [organizationId, name, content, since, historyDigest];
    }),
  );
}

export function permitValues(permits: readonly Permit[]): number[] {
  return PERMITS.map((permit) => Number(permits.includes(permit)));
}

/** Parses a date and time of RFC 3339 in UTC, with `Z`. */
export function utcInstant(time: string): Instant | undefined {
  return isServedForm(time, 'utc') ? parseTimestamp(time) : undefined;
}

/** @throws RefusedSnapshot when a time of a manifest is not one in UTC */
export function instantOf(time: string): Instant {
  const instant = utcInstant(time);
  if (instant === undefined)
    throw inconsistent(`its time "${time}" is not a date and time of RFC 3339 in UTC`);
  return instant;
}

/** A record that a snapshot of the history held, and that is gone since another one, which `deletedAt` names. */
export interface Deletion {
  readonly collection: CollectionName;
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly deletedAt: string;
  readonly instant: Instant;
}

type DeletionRow = readonly [collection: string, id: string, deletedAt: string];

type History = Pick<ManifestOrganization, 'organizationId' | 'since' | 'runs'>;

/**
 * Computes the history digest of an organization, base64url. It covers lines of JSON:
 *
 *     [<since>]
 *     [<collection>,<first_row>,<changes_digest>]   for each run
 *     [<collection>,<id>,<deleted_at>]              for each deletion
 */
export function historyDigest(database: Database.Database, history: History): string {
  const runs = COLLECTIONS.flatMap(({ name }) =>
    history.runs[name].map(({ firstRow, changesDigest }) => [name, firstRow, changesDigest]),
  );
  return linesDigest([[history.since], ...runs], deletionRows(database, history.organizationId));
}

/**
 * Reads the deletions of an organization, by collection and id, after a check of the history digest.
 * @param until time of the snapshot
 * @throws RefusedSnapshot also when one is malformed or later than the snapshot
 */
export function* readDeletions(
  database: Database.Database,
  organization: ManifestOrganization,
  until: Instant,
): Generator<Deletion> {
  if (historyDigest(database, organization) !== organization.historyDigest)
    throw damaged(`the history of organization "${organization.organizationId}" does not match its digest`);
  for (const [name, id, deletedAt] of deletionRows(database, organization.organizationId)) {
    const refused = (problem: string) => inconsistent(`the deletion of "${id}" of ${name} ${problem}`);
    const collection = COLLECTION_NAMES.find((one) => one === name);
    const instant = utcInstant(deletedAt);
    if (collection === undefined) throw refused('is of no collection');
    if (id === '') throw refused('has no id');
    if (instant === undefined || instant > until)
      throw refused(`has the time "${deletedAt}", which is not that of a snapshot up to this one`);
    yield { collection, id, deletedAt, instant };
  }
}

function deletionRows(database: Database.Database, organizationId: string): IterableIterator<DeletionRow> {
  return database
    .prepare<[string], DeletionRow>(
      'SELECT collection, id, deleted_at FROM deletions WHERE organization_id = ? ORDER BY collection, id',
    )
    .raw()
    .iterate(organizationId);
}

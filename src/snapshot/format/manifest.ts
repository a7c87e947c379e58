import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTION_NAMES } from '../../contract/resources.ts';
import { type Instant, isServedForm, parseTimestamp } from '../../contract/timestamp.ts';
import { PACKED_BELOW_BYTES } from '../../store/memory/image-memory.ts';
import type { ListName, SnapshotOrigin } from '../../store/organization-image.ts';
import { byCollection, type CollectionLayout, COLLECTIONS, layoutsOf } from './layout.ts';
import { damaged, inconsistent } from './refused-snapshot.ts';
import { sumText } from './schema.ts';

/**
 * Permits that a publisher may give to one snapshot. With `rollback`, it may be older than the live one. With `shrink`,
 * it may lack a live organization or more than half of a collection. The table `snapshot` has a column for each.
 */
export const PERMITS = ['rollback', 'shrink'] as const;
export type Permit = (typeof PERMITS)[number];

/** Declared content of a snapshot: the tables `snapshot`, `ancestors`, `organizations` and `lists`. */
export interface Manifest extends SnapshotOrigin {
  /** A UUID. Changes apply to a whole file of the same one. */
  readonly epoch: string;
  /** Time up to which changes are missing in a file of changes; empty in a whole file. */
  readonly changesSince: string;
  readonly permits: readonly Permit[];
  /** The snapshots from which it descends, earliest first. */
  readonly ancestors: readonly SnapshotOrigin[];
  /** In id order. */
  readonly organizations: readonly ManifestOrganization[];
}

/** A row of `lists`: the records of an organization in a collection, also those that a file of changes lacks. */
export interface DeclaredList {
  /** Row of the first record in the table, behind those of the organizations before. */
  readonly firstRow: number;
  /** Number of its records in the file. */
  readonly rowCount: number;
  readonly recordCount: number;
  readonly recordBytes: number;
  /** Bytes of the texts in index columns, elements of lists included. */
  readonly textBytes: number;
  /** Elements of lists in index columns. */
  readonly listElements: number;
  /** Bound for the bytes of a row in its id, its texts and lists, and its record. */
  readonly longestRow: number;
  /** Sum of the digests of the records, as of `sumText`. */
  readonly recordsSum: string;
  /** Digest of its rows in the file. */
  readonly digest: string;
}

/** A collection without records, which has no row in `lists`. */
export const NO_RECORDS: DeclaredList = {
  firstRow: 0,
  rowCount: 0,
  recordCount: 0,
  recordBytes: 0,
  textBytes: 0,
  listElements: 0,
  longestRow: 0,
  recordsSum: sumText(0n),
  digest: '',
};

/** Returns whether a list has a row in `lists`. */
export function isDeclared({ digest }: DeclaredList): boolean {
  return digest !== NO_RECORDS.digest;
}

export interface ManifestOrganization {
  readonly organizationId: string;
  readonly name: string;
  /** Production time of the snapshot with which its history began. */
  readonly since: string;
  readonly deletionsDigest: string;
  readonly deletionCount: number;
  /** Bytes of the ids of its deletions. */
  readonly deletionBytes: number;
  readonly lists: Readonly<Record<CollectionName, DeclaredList>>;
}

/** Returns whether a list is so small that its image is packed into one buffer, and shares no records. */
export function isPacked({ recordBytes }: DeclaredList): boolean {
  return recordBytes < PACKED_BELOW_BYTES;
}

export function recordsIn({ organizations }: Pick<Manifest, 'organizations'>): number {
  let records = 0;
  for (const { lists } of organizations)
    for (const { name } of COLLECTIONS) records += lists[name].recordCount;
  return records;
}

export type RecordCounts = Readonly<Record<CollectionName, number>>;

export function declaredCounts({ lists }: ManifestOrganization): Record<CollectionName, number> {
  return byCollection(({ name }) => lists[name].recordCount);
}

/** Returns the numbers of records of all organizations. */
export function totalCounts({ organizations }: Pick<Manifest, 'organizations'>): RecordCounts {
  return byCollection(({ name }) =>
    organizations.reduce((sum, { lists }) => sum + lists[name].recordCount, 0),
  );
}

/** Computes the digest of the content of an organization, base64url, as `listDigest` does. */
export function contentDigest({ lists }: Pick<ManifestOrganization, 'lists'>): string {
  return digestOf(lists, COLLECTIONS);
}

/**
 * Computes the digest of a list, base64url, which its image has. It covers a JSON line for each collection, and depends
 * on the records alone, not on the file.
 */
export function listDigest({ lists }: Pick<ManifestOrganization, 'lists'>, list: ListName): string {
  return digestOf(lists, layoutsOf(list));
}

/** Computes a digest of all records of a snapshot, base64url. */
export function recordsDigest({ organizations }: Manifest): string {
  return linesDigest(
    organizations.flatMap(({ organizationId, lists }) =>
      COLLECTIONS.map(({ name }) => [organizationId, name, lists[name].recordsSum]),
    ),
  );
}

function digestOf(lists: ManifestOrganization['lists'], layouts: readonly CollectionLayout[]): string {
  return linesDigest(layouts.map(({ name }) => [name, lists[name].recordCount, lists[name].recordsSum]));
}

/** Computes a digest, base64url, over lines of JSON. */
function linesDigest(...parts: Iterable<readonly (string | number | bigint)[]>[]): string {
  const hash = createHash('sha256');
  for (const lines of parts)
    for (const line of lines)
      hash.update(`[${line.map((one) => (typeof one === 'bigint' ? one : JSON.stringify(one))).join()}]\n`);
  return hash.digest('base64url');
}

/** A manifest without what derives from the table of deletions. */
export type DigestedManifest = Omit<Manifest, 'organizations'> & {
  readonly organizations: readonly Omit<ManifestOrganization, 'deletionCount' | 'deletionBytes'>[];
};

/**
 * Computes the manifest digest, base64url: a JSON line for the snapshot, each ancestor, each organization, and each list
 * by organization and in byte order of the collection.
 */
export function manifestDigest(manifest: DigestedManifest): string {
  const { snapshotId, producedAt, epoch, changesSince, permits, ancestors, organizations } = manifest;
  return linesDigest(
    [[snapshotId, producedAt, epoch, changesSince, ...permitValues(permits)]],
    ancestors.map((one) => [one.snapshotId, one.producedAt]),
    organizations.map((one) => [one.organizationId, one.name, one.since, one.deletionsDigest]),
    organizations.flatMap(({ organizationId, lists }) =>
      Object.entries(lists)
        .filter(([, list]) => isDeclared(list))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, one]) => [
          ...[organizationId, name, one.rowCount, one.recordCount, one.recordBytes, one.textBytes],
          ...[one.listElements, one.longestRow, one.recordsSum, one.digest],
        ]),
    ),
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

/** A record that a snapshot of the history held, and that this one lacks. */
export interface Deletion {
  readonly collection: CollectionName;
  readonly id: string;
  /** Production time of the first snapshot without it. */
  readonly deletedAt: Instant;
}

type DeletionRow = readonly [collection: string, id: string, deletedAt: Instant];

/** Computes the digest of the deletions of an organization, base64url: a JSON line for each, in the order of the table. */
export function deletionsDigest(database: Database.Database, organizationId: string): string {
  return linesDigest(deletionRows(database, organizationId));
}

/**
 * Reads the deletions of an organization, by collection and id, after a check of their digest.
 * @param until time of the snapshot
 * @throws RefusedSnapshot also when one is malformed or later than the snapshot
 */
export function* readDeletions(
  database: Database.Database,
  { organizationId, deletionsDigest: declared }: ManifestOrganization,
  until: Instant,
): Generator<Deletion> {
  if (deletionsDigest(database, organizationId) !== declared)
    throw damaged(`the deletions of organization "${organizationId}" do not match their digest`);
  for (const [name, id, deletedAt] of deletionRows(database, organizationId)) {
    const refused = (problem: string) => inconsistent(`the deletion of "${id}" of ${name} ${problem}`);
    const collection = COLLECTION_NAMES.find((one) => one === name);
    if (collection === undefined) throw refused('is of no collection');
    if (id === '') throw refused('has no id');
    if (deletedAt > until)
      throw refused(`has the time ${deletedAt}, which is not that of a snapshot up to this one`);
    yield { collection, id, deletedAt };
  }
}

function deletionRows(database: Database.Database, organizationId: string): IterableIterator<DeletionRow> {
  return database
    .prepare<[string], DeletionRow>(
      'SELECT collection, id, deleted_at FROM deletions WHERE organization_id = ? ORDER BY collection, id',
    )
    .raw()
    .safeIntegers()
    .iterate(organizationId);
}

import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../contract/headers.ts';
import type { CollectionName } from '../../contract/operations.ts';
import { type Instant, isServedForm, parseTimestamp } from '../../contract/timestamp.ts';
import {
  collectionOf,
  type OrganizationImage,
  type SnapshotOrigin,
  UUID,
} from '../../store/organization-image.ts';
import { type ColumnSizes, columnSizes } from './column-sizes.ts';
import { byCollection, COLLECTIONS } from './layout.ts';
import { damaged, inconsistent, RefusedSnapshot } from './refused-snapshot.ts';
import {
  MANIFEST_TEXTS,
  MAX_ANCESTORS,
  MAX_NAMES_BYTES,
  MAX_RUN_BYTES,
  MAX_RUN_RECORDS,
  MAX_RUNS,
} from './schema.ts';

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
type DeclaredOrganization = Omit<ManifestOrganization, 'columns'>;

export interface RunEntry {
  readonly firstRow: number;
  readonly recordCount: number;
  /** Length of the column `records`. */
  readonly recordBytes: number;
  readonly digest: string;
  readonly changesDigest: string;
}

export function rowCount(runs: readonly RunEntry[]): number {
  const last = runs.at(-1);
  return last === undefined ? 0 : last.firstRow + last.recordCount;
}

export function recordsIn({ organizations }: Manifest): number {
  let records = 0;
  for (const { runs } of organizations) for (const { name } of COLLECTIONS) records += rowCount(runs[name]);
  return records;
}

/** Time by which a snapshot may have been produced ahead of the clock of this machine. */
const MAX_AHEAD_MS = 5 * 60_000;

/** Returns a warning about a production time ahead of the clock; undefined when there is none. */
export function aheadOfClock(producedAt: string, now: number): string | undefined {
  if (Date.parse(producedAt) <= now + MAX_AHEAD_MS) return undefined;
  return (
    `its production time, ${producedAt}, is more than 5 minutes ahead of the clock, and until then later snapshots ` +
    'are refused as older: check the clocks, then publish a snapshot of the right time with --rollback'
  );
}

export type RecordCounts = Readonly<Record<CollectionName, number>>;

export function declaredCounts({ runs }: ManifestOrganization): RecordCounts {
  return byCollection(({ name }) => rowCount(runs[name]));
}

export function loadedCounts(image: OrganizationImage): RecordCounts {
  return byCollection(({ name }) => collectionOf(image, name).count);
}

/** Computes the content digest of collections, base64url. It covers a JSON line for each run. */
export function contentDigest(runs: Runs, collections = COLLECTIONS): string {
  return linesDigest(
    collections.flatMap(({ name }) =>
      runs[name].map(({ recordCount, recordBytes, digest }) => [name, recordCount, recordBytes, digest]),
    ),
  );
}

/** Computes a digest, base64url, over lines of JSON. */
export function linesDigest(...parts: Iterable<readonly (string | number)[]>[]): string {
  const hash = createHash('sha256');
  for (const lines of parts) for (const line of lines) hash.update(`${JSON.stringify(line)}\n`);
  return hash.digest('base64url');
}

type DigestedManifest = Omit<Manifest, 'organizations'> & {
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

type SnapshotRow = Readonly<Record<'snapshot_id' | 'produced_at' | 'digest', string>> &
  Readonly<Record<'canonical_runs' | `permits_${Permit}`, number>>;

/**
 * Reads the manifest, and checks its digests, names and counts.
 * The declared runs cover the run tables, and no count exceeds the size of the file.
 * @throws RefusedSnapshot
 */
export function readManifest(database: Database.Database, fileBytes: number): Manifest {
  for (const { table, limits } of MANIFEST_TEXTS) checkTable(database, table, limits);
  checkManifestSize(database);
  const rows = database.prepare<[], SnapshotRow>('SELECT * FROM snapshot').all();
  if (rows.length !== 1) throw inconsistent(`its table "snapshot" has ${rows.length} rows instead of one`);
  const [{ snapshot_id: snapshotId, produced_at: producedAt, digest, ...row }] = rows;
  const permits = PERMITS.filter((permit) => row[`permits_${permit}`] === 1);
  const organizations = readDeclarations(database);
  const hasCanonicalRuns = row.canonical_runs === 1;
  const ancestors = database
    .prepare<[], SnapshotOrigin>(
      'SELECT snapshot_id AS snapshotId, produced_at AS producedAt FROM ancestors ORDER BY rowid',
    )
    .all();
  const manifest = { snapshotId, producedAt, hasCanonicalRuns, permits, ancestors, organizations };
  if (manifestDigest(manifest) !== digest) throw damaged('its manifest does not match its digest');
  if (organizations.length === 0) throw new RefusedSnapshot('no-organization', 'it holds no organization');
  for (const { organizationId, runs, contentDigest: declared } of organizations) {
    if (contentDigest(runs) !== declared)
      throw damaged(`the runs of organization "${organizationId}" do not match its digest`);
    if (!isOrganizationId(organizationId))
      throw inconsistent(`its organization_id "${organizationId}" ${ORGANIZATION_ID_RULE}`);
  }
  checkHistory(manifest);
  checkRuns(organizations, fileBytes);
  checkRunTables(database, organizations);
  const sizesOf = columnSizes(database);
  return { ...manifest, organizations: organizations.map((one) => ({ ...one, columns: sizesOf(one) })) };
}

type Limits = readonly (readonly [column: string, bytes: number])[];

/**
 * Refuses a table with a damaged tree, a value of another type or a text over its limit.
 * The check reads each page once. A tree whose pages are linked twice could hold more rows than can ever be read.
 */
function checkTable(database: Database.Database, table: string, limits: Limits): void {
  // The first row is the first finding.
  const finding = database.pragma(`quick_check(${table})`, { simple: true });
  if (finding !== 'ok') {
    const detail = String(finding).replace(/\s+/g, ' ');
    throw new RefusedSnapshot(
      'damaged',
      `its table "${table}" is damaged: ${detail}; copy or build it again`,
    );
  }
  // octet_length() reads only the header of a row: a text is not read before its length is known.
  const longest = limits.map(([column]) => `max(octet_length(${column})) AS ${column}`).join(', ');
  const found = database.prepare<[], Record<string, number>>(`SELECT ${longest} FROM ${table}`).get();
  for (const [column, bytes] of limits) {
    if (found !== undefined && found[column] > bytes)
      throw inconsistent(
        `a text in column ${column} of "${table}" has ${found[column]} bytes, more than ${bytes}`,
      );
  }
}

/** Refuses a manifest that would not fit in the memory of the main thread, which receives it. */
function checkManifestSize(database: Database.Database): void {
  for (const [what, found, limit] of [
    ['rows of "runs"', 'SELECT count(*) FROM runs', MAX_RUNS],
    ['rows of "ancestors"', 'SELECT count(*) FROM ancestors', MAX_ANCESTORS],
    [
      'bytes in the texts of "organizations" and "ancestors"',
      `SELECT (SELECT total(octet_length(organization_id) + octet_length(name) + octet_length(since)) FROM organizations)
            + (SELECT total(octet_length(snapshot_id) + octet_length(produced_at)) FROM ancestors)`,
      MAX_NAMES_BYTES,
    ],
  ] as const) {
    const size = database.prepare<[], number>(found).pluck().get() ?? 0;
    if (size > limit) throw inconsistent(`it has ${size} ${what}, more than ${limit}`);
  }
}

type RunRow = RunEntry & Readonly<Record<'organizationId' | 'list', string>>;

function readDeclarations(database: Database.Database): DeclaredOrganization[] {
  const declared = database.prepare<[], Omit<DeclaredOrganization, 'runs'>>(
    `SELECT organization_id AS organizationId, name, digest AS contentDigest, since,
            history_digest AS historyDigest,
            count(id) AS deletionCount, coalesce(sum(octet_length(id)), 0) AS deletionBytes
     FROM organizations LEFT JOIN deletions USING (organization_id)
     GROUP BY organization_id ORDER BY organization_id`,
  );
  const organizations = declared.all().map((one) => ({ ...one, runs: byCollection((): RunEntry[] => []) }));
  const runsOf = new Map(organizations.map(({ organizationId, runs }) => [organizationId, runs]));
  const rows = database.prepare<[], RunRow>(
    `SELECT organization_id AS organizationId, collection AS list, first_row AS firstRow,
            record_count AS recordCount, record_bytes AS recordBytes, digest,
            changes_digest AS changesDigest
     FROM runs ORDER BY organization_id, collection, first_row`,
  );
  for (const { organizationId, list, ...entry } of rows.iterate()) {
    const runs: Readonly<Record<string, RunEntry[]>> | undefined = runsOf.get(organizationId);
    if (runs === undefined)
      throw inconsistent(`"runs" has rows for "${organizationId}", which is not in "organizations"`);
    if (!Object.hasOwn(runs, list)) {
      throw inconsistent(`"runs" has a row of "${organizationId}" for "${list}", which is no collection`);
    }
    runs[list].push(entry);
  }
  return organizations;
}

/** Refuses malformed ids and times of snapshots, and a history that is not in the order of their times. */
function checkHistory(manifest: DigestedManifest): void {
  let latest: Instant | undefined;
  for (const { snapshotId, producedAt } of [...manifest.ancestors, manifest]) {
    if (!UUID.test(snapshotId)) throw inconsistent(`its snapshot_id "${snapshotId}" is not a UUID`);
    const instant = instantOf(producedAt);
    if (latest !== undefined && instant <= latest)
      throw inconsistent(`its snapshot of ${producedAt} is not later than the ancestor before it`);
    latest = instant;
  }
  for (const { organizationId, since } of manifest.organizations) {
    if (latest === undefined || instantOf(since) > latest)
      throw inconsistent(`the history of organization "${organizationId}" begins after the snapshot`);
  }
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

/** Refuses gaps and overlaps of runs, counts out of bounds, and more bytes than the file has. */
function checkRuns(organizations: readonly DeclaredOrganization[], fileBytes: number): void {
  let bytes = 0;
  for (const { organizationId, runs } of organizations) {
    for (const { name } of COLLECTIONS) {
      let nextRow = 0;
      for (const { firstRow, recordCount, recordBytes } of runs[name]) {
        const isCount = recordCount >= 1 && recordCount <= MAX_RUN_RECORDS;
        if (!isCount || recordBytes < recordCount || recordBytes > MAX_RUN_BYTES)
          throw inconsistent(`"runs" is out of bounds for ${name} of "${organizationId}" at row ${firstRow}`);
        if (firstRow !== nextRow)
          throw inconsistent(
            `the runs of ${name} of "${organizationId}" leave a gap or overlap at row ${nextRow}`,
          );
        nextRow += recordCount;
        bytes += recordBytes;
      }
    }
  }
  if (!(bytes <= fileBytes))
    throw inconsistent(`"runs" declares ${bytes} bytes of records, but the file has ${fileBytes} bytes`);
}

/**
 * Refuses run tables with more or fewer rows than "runs", and deletions of other organizations. The run reader refuses a
 * run that is missing.
 */
function checkRunTables(database: Database.Database, organizations: readonly DeclaredOrganization[]): void {
  for (const { name, table } of COLLECTIONS) {
    const declared = organizations.reduce((sum, { runs }) => sum + runs[name].length, 0);
    // A damaged tree could have an endless number of rows.
    const found = database
      .prepare<[number], number>(`SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT ?)`)
      .pluck()
      .get(declared + 1);
    if (found === declared) continue;
    const rows = found === declared + 1 ? `more than ${declared}` : String(found);
    throw inconsistent(`${table} has ${rows} rows, but "runs" declares ${declared} for ${name}`);
  }
  const foreign = database
    .prepare<[], string>(
      'SELECT organization_id FROM deletions WHERE organization_id NOT IN (SELECT organization_id FROM organizations)',
    )
    .pluck()
    .get();
  if (foreign !== undefined)
    throw inconsistent(`"deletions" has rows for "${foreign}", which is not in "organizations"`);
}

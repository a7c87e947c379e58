import type Database from 'better-sqlite3';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../contract/headers.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { type SnapshotOrigin, UUID } from '../../store/organization-image.ts';
import { byCollection, type CollectionLayout, COLLECTIONS, type ColumnLayout } from './layout.ts';
import {
  type ColumnSizes,
  contentDigest,
  type DeclaredOrganization,
  type DigestedManifest,
  instantOf,
  type Manifest,
  manifestDigest,
  type ManifestOrganization,
  type Permit,
  PERMITS,
  type RunEntry,
} from './manifest.ts';
import { damaged, inconsistent, RefusedSnapshot } from './refused-snapshot.ts';
import {
  allColumns,
  MANIFEST_TEXTS,
  MAX_ANCESTORS,
  MAX_NAMES_BYTES,
  MAX_RUN_BYTES,
  MAX_RUN_RECORDS,
  MAX_RUNS,
} from './schema.ts';

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
  const complete = { ...manifest, organizations: withColumns(database, organizations, fileBytes) };
  checkRows(database, organizations);
  return complete;
}

type Limits = readonly (readonly [column: string, bytes: number])[];

/**
 * Refuses a table with a damaged tree, a value of another type or a text over its limit.
 * The check reads each page once. A tree whose pages are linked twice could hold more rows than can ever be read.
 */
function checkTable(database: Database.Database, table: string, limits: Limits): void {
  // The first row is the first finding.
  const finding = database.pragma(`quick_check(${table})`, { simple: true });
  if (finding !== 'ok') throw damaged(`its table "${table}": ${String(finding).replace(/\s+/g, ' ')}`);
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
  const rows = database.prepare<[], RunEntry & Readonly<Record<'organizationId' | 'list', string>>>(
    `SELECT organization_id AS organizationId, collection AS list, first_row AS firstRow,
            record_count AS recordCount, record_bytes AS recordBytes, digest,
            records_sum AS recordsSum, changes_digest AS changesDigest
     FROM runs ORDER BY organization_id, collection, first_row`,
  );
  for (const { organizationId, list, ...entry } of rows.iterate()) {
    const runs: Readonly<Record<string, RunEntry[]>> | undefined = runsOf.get(organizationId);
    if (runs === undefined)
      throw inconsistent(`"runs" has rows for "${organizationId}", which is not in "organizations"`);
    if (!Object.hasOwn(runs, list))
      throw inconsistent(`"runs" has a row of "${organizationId}" for "${list}", which is no collection`);
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

/** Refuses run tables with more rows than "runs", and deletions of other organizations. */
function checkRows(database: Database.Database, organizations: readonly DeclaredOrganization[]): void {
  for (const { name, table } of COLLECTIONS) {
    const declared = organizations.reduce((sum, { runs }) => sum + runs[name].length, 0);
    // Not counted: a damaged tree could have an endless number of rows.
    const excess = database.prepare<[number]>(`SELECT 1 FROM ${table} LIMIT 1 OFFSET ?`).get(declared);
    if (excess !== undefined)
      throw inconsistent(
        `${table} has more than ${declared} rows, but "runs" declares ${declared} for ${name}`,
      );
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

const lengths = (columns: readonly string[]) => columns.map((column) => `octet_length(${column})`);

/**
 * Returns the condition of a run, by organization and first row, whose columns are within their limit.
 * octet_length() reads only the header of a row, so that an oversized column takes no memory.
 */
export function isRun(layout: CollectionLayout): string {
  return `organization_id = ? AND first_row = ? AND max(${lengths(allColumns(layout)).join(', ')}) <= ${MAX_RUN_BYTES}`;
}

export function noRun(
  { table }: CollectionLayout,
  organizationId: string,
  { firstRow }: RunEntry,
): RefusedSnapshot {
  return inconsistent(
    `${table} has no valid run of "${organizationId}" at row ${firstRow}: it is missing, or a column is NULL or ` +
      `exceeds ${MAX_RUN_BYTES} bytes`,
  );
}

/**
 * Adds the sizes of the columns to organizations. Lists are counted by their quotes.
 * Refuses gaps and overlaps of runs, counts out of bounds, a run that is missing or too large, and more bytes than the
 * file has.
 */
function withColumns(
  database: Database.Database,
  organizations: readonly DeclaredOrganization[],
  fileBytes: number,
): ManifestOrganization[] {
  const statements = byCollection((layout) => {
    const namesOf = (...kinds: readonly ColumnLayout['holds'][]) =>
      layout.columns.filter(({ holds }) => kinds.includes(holds)).map(({ column }) => column);
    const quotes = namesOf('list').map(
      (column) => `octet_length(${column}) - octet_length(replace(${column}, '"', ''))`,
    );
    return database.prepare<[string, number], ColumnSizes>(
      `SELECT ${lengths(namesOf('text', 'list')).join(' + ')} AS bytes, (${['0', ...quotes].join(' + ')}) / 2 AS elements,
              ${lengths(allColumns(layout)).join(' + ')} AS largestRun
       FROM ${layout.table} WHERE ${isRun(layout)}`,
    );
  });
  let declaredBytes = 0;
  const complete = organizations.map((organization) => {
    const { organizationId, runs } = organization;
    const columns = byCollection((layout): ColumnSizes => {
      const sizes = { bytes: 0, elements: 0, largestRun: 0 };
      let nextRow = 0;
      for (const entry of runs[layout.name]) {
        checkEntry(entry, nextRow, `${layout.name} of "${organizationId}"`);
        const run = statements[layout.name].get(organizationId, nextRow);
        if (run === undefined) throw noRun(layout, organizationId, entry);
        nextRow += entry.recordCount;
        declaredBytes += entry.recordBytes;
        sizes.bytes += run.bytes;
        sizes.elements += run.elements;
        sizes.largestRun = Math.max(sizes.largestRun, run.largestRun);
      }
      return sizes;
    });
    return { ...organization, columns };
  });
  if (declaredBytes <= fileBytes) return complete;
  throw inconsistent(
    `"runs" declares ${declaredBytes} bytes of records, but the file has ${fileBytes} bytes`,
  );
}

function checkEntry(entry: RunEntry, nextRow: number, list: string): void {
  const { firstRow, recordCount, recordBytes, recordsSum } = entry;
  const isCount = recordCount >= 1 && recordCount <= MAX_RUN_RECORDS;
  if (!isCount || recordBytes < recordCount || recordBytes > MAX_RUN_BYTES)
    throw inconsistent(`"runs" is out of bounds for ${list} at row ${firstRow}`);
  if (!/^[0-9a-f]{64}$/.test(recordsSum))
    throw inconsistent(`the records_sum of ${list} at row ${firstRow} is not 64 hexadecimal digits`);
  if (firstRow !== nextRow)
    throw inconsistent(`the runs of ${list} leave a gap or overlap at row ${nextRow}`);
}

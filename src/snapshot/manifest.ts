import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../contract/organization-id.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { CONTENT_TABLES } from './format.ts';

/**
 * What a publisher may allow one snapshot that is refused else: to be older than what is live (`rollback`); to lack an
 * organization that is live, or more than half of a collection (`shrink`). The table `snapshot` has a column for each.
 */
export const PERMITS = ['rollback', 'shrink'] as const;
export type Permit = (typeof PERMITS)[number];

/** What a snapshot says of itself: the tables `snapshot`, `organizations` and `segments`. */
export interface Manifest {
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly permits: readonly Permit[];
  readonly organizations: readonly ManifestOrganization[];
}

export interface ManifestOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly digest: string;
  /** By table, in the order of the schema. */
  readonly segments: ReadonlyMap<string, Segment>;
}

/** The rows of one organization in one table. */
export interface Segment {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly recordBytes: number;
}

export function segmentOf(segments: ReadonlyMap<string, Segment>, table: string): Segment {
  const segment = segments.get(table);
  if (segment === undefined) throw new TypeError(`no segment of ${table}`);
  return segment;
}

/** SHA-256, base64url, over one line a value, in the order of the tables. */
export function manifestDigest({ snapshotId, producedAt, permits, organizations }: Manifest): string {
  const hash = createHash('sha256');
  const add = (...values: (string | number)[]) => hash.update(`${JSON.stringify(values)}\n`);
  add(snapshotId, producedAt, ...permitValues(permits));
  for (const { organizationId, name, digest, segments } of organizations) {
    add(organizationId, name, digest);
    for (const [table, { firstRow, rowCount, recordBytes }] of segments)
      add(table, firstRow, rowCount, recordBytes);
  }
  return hash.digest('base64url');
}

/** The values of the columns of permits, in their order. */
export function permitValues(permits: readonly Permit[]): number[] {
  return PERMITS.map((permit) => (permits.includes(permit) ? 1 : 0));
}

type SnapshotRow = Readonly<Record<'snapshot_id' | 'produced_at' | 'digest', string>> &
  Readonly<Record<`permits_${Permit}`, number>>;

/**
 * Reads and checks the manifest: its digest, and that the segments cover each table without gap or overlap.
 * @throws RefusedSnapshot
 */
export function readManifest(database: Database.Database, fileBytes: number): Manifest {
  const rows = database.prepare<[], SnapshotRow>('SELECT * FROM snapshot').all();
  if (rows.length !== 1)
    throw new RefusedSnapshot('inconsistent', `its table "snapshot" has ${rows.length} rows instead of one`);
  const [{ snapshot_id: snapshotId, produced_at: producedAt, digest, ...row }] = rows;
  const permits = PERMITS.filter((permit) => row[`permits_${permit}`] === 1);
  const organizations = database
    .prepare<[], { organization_id: string; name: string; digest: string }>(
      'SELECT * FROM organizations ORDER BY organization_id',
    )
    .all()
    .map(({ organization_id: organizationId, ...rest }) => ({
      organizationId,
      ...rest,
      segments: readSegments(database, organizationId, fileBytes),
    }));
  const segmentCount = database.prepare<[], number>('SELECT count(*) FROM segments').pluck().get();
  if (segmentCount !== organizations.length * CONTENT_TABLES.length) {
    throw new RefusedSnapshot(
      'inconsistent',
      `"segments" has ${String(segmentCount)} rows instead of ${CONTENT_TABLES.length} for each of ${organizations.length} organizations`,
    );
  }
  const manifest = { snapshotId, producedAt, permits, organizations };
  if (manifestDigest(manifest) !== digest) {
    throw new RefusedSnapshot(
      'damaged',
      'its manifest does not match its digest: the file is damaged; copy or build it again',
    );
  }
  if (organizations.length === 0) throw new RefusedSnapshot('no-organization', 'it holds no organization');
  checkNames(manifest);
  checkCoverage(database, manifest);
  return manifest;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** These travel in headers, links and credentials. */
function checkNames({ snapshotId, producedAt, organizations }: Manifest): void {
  if (!UUID.test(snapshotId))
    throw new RefusedSnapshot('inconsistent', `its snapshot_id "${snapshotId}" is not a UUID`);
  if (!producedAt.endsWith('Z') || parseTimestamp(producedAt) === undefined) {
    throw new RefusedSnapshot(
      'inconsistent',
      `its produced_at "${producedAt}" is not an ISO 8601 date and time in UTC`,
    );
  }
  for (const { organizationId } of organizations) {
    if (!isOrganizationId(organizationId)) {
      throw new RefusedSnapshot(
        'inconsistent',
        `its organization_id "${organizationId}" ${ORGANIZATION_ID_RULE}`,
      );
    }
  }
}

function readSegments(
  database: Database.Database,
  organizationId: string,
  fileBytes: number,
): Map<string, Segment> {
  const segments = new Map<string, Segment>();
  const statement = database.prepare<
    [string, string],
    { first_row: number; row_count: number; record_bytes: number }
  >('SELECT first_row, row_count, record_bytes FROM segments WHERE organization_id = ? AND table_name = ?');
  for (const { name } of CONTENT_TABLES) {
    const row = statement.get(organizationId, name);
    if (row === undefined)
      throw new RefusedSnapshot('inconsistent', `"segments" has no row for ${name} of "${organizationId}"`);
    const segment = { firstRow: row.first_row, rowCount: row.row_count, recordBytes: row.record_bytes };
    // No count can be larger than the file: checked before memory is asked for.
    for (const value of Object.values(segment)) {
      if (!(value >= 0 && value <= fileBytes))
        throw new RefusedSnapshot('inconsistent', `"segments" is out of bounds for ${name}`);
    }
    segments.set(name, segment);
  }
  return segments;
}

function checkCoverage(database: Database.Database, { organizations }: Manifest): void {
  for (const { name } of CONTENT_TABLES) {
    let next = 0;
    const segments = organizations.map(({ segments }) => segmentOf(segments, name));
    for (const segment of segments.sort((a, b) => a.firstRow - b.firstRow || a.rowCount - b.rowCount)) {
      if (segment.firstRow !== next)
        throw new RefusedSnapshot('inconsistent', `the segments of ${name} leave a gap or overlap`);
      next += segment.rowCount;
    }
    // Two queries, each of which goes straight to its end of the table: one of both reads all of it.
    const ends = database
      .prepare<[], { low: number | null; high: number | null }>(
        `SELECT (SELECT min(row) FROM ${name}) AS low, (SELECT max(row) FROM ${name}) AS high`,
      )
      .get();
    if ((ends?.low ?? 0) !== 0 || (ends?.high ?? -1) !== next - 1) {
      throw new RefusedSnapshot('inconsistent', `${name} has other rows than its segments count`);
    }
  }
}

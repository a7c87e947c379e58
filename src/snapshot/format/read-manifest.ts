import type Database from 'better-sqlite3';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../contract/headers.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { type SnapshotOrigin, UUID } from '../../store/organization-image.ts';
import { byCollection, COLLECTIONS } from './layout.ts';
import {
  type DeclaredList,
  instantOf,
  isDeclared,
  type Manifest,
  manifestDigest,
  type ManifestOrganization,
  NO_RECORDS,
  type Permit,
  PERMITS,
  totalCounts,
} from './manifest.ts';
import { damaged, inconsistent, RefusedSnapshot } from './refused-snapshot.ts';
import { MANIFEST_TEXTS, MAX_ANCESTORS, MAX_LISTS, MAX_NAMES_BYTES, MAX_ROW_BYTES } from './schema.ts';

type SnapshotRow = Readonly<
  Record<'snapshot_id' | 'produced_at' | 'epoch' | 'changes_since' | 'digest', string>
> &
  Readonly<Record<`permits_${Permit}`, number>>;

/**
 * Reads the manifest, and checks its digest, names and counts.
 * The declared lists cover the tables, and no count exceeds a size.
 * @param isOfChanges whether it is a file of changes, for whose counts `checkLists` has the bound once the whole file is known
 * @throws RefusedSnapshot
 */
export function readManifest(database: Database.Database, fileBytes: number, isOfChanges: boolean): Manifest {
  for (const { table, limits } of MANIFEST_TEXTS) checkTable(database, table, limits);
  checkManifestSize(database);
  const rows = database.prepare<[], SnapshotRow>('SELECT * FROM snapshot').all();
  if (rows.length !== 1) throw inconsistent(`its table "snapshot" has ${rows.length} rows instead of one`);
  const [{ snapshot_id: snapshotId, produced_at: producedAt, epoch, digest, ...row }] = rows;
  const { changes_since: changesSince } = row;
  const permits = PERMITS.filter((permit) => row[`permits_${permit}`] === 1);
  const organizations = readOrganizations(database);
  const ancestors = database
    .prepare<[], SnapshotOrigin>(
      'SELECT snapshot_id AS snapshotId, produced_at AS producedAt FROM ancestors ORDER BY rowid',
    )
    .all();
  const manifest = { snapshotId, producedAt, epoch, changesSince, permits, ancestors, organizations };
  if (manifestDigest(manifest) !== digest) throw damaged('its manifest does not match its digest');
  if (organizations.length === 0) throw new RefusedSnapshot('no-organization', 'it holds no organization');
  for (const { organizationId } of organizations) {
    if (!isOrganizationId(organizationId))
      throw inconsistent(`its organization_id "${organizationId}" ${ORGANIZATION_ID_RULE}`);
  }
  if ((changesSince !== '') !== isOfChanges)
    throw inconsistent(
      changesSince === ''
        ? 'it is a whole file, in the place of a file of changes'
        : 'it is a file of changes: name the whole file, beside which it belongs',
    );
  checkHistory(manifest);
  checkLists(manifest, isOfChanges ? Infinity : fileBytes);
  checkRows(database, manifest);
  return manifest;
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
    ['rows of "lists"', 'SELECT count(*) FROM lists', MAX_LISTS],
    ['rows of "organizations"', 'SELECT count(*) FROM organizations', MAX_LISTS],
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

function readOrganizations(database: Database.Database): ManifestOrganization[] {
  const declared = database.prepare<[], Omit<ManifestOrganization, 'lists'>>(
    `SELECT organization_id AS organizationId, name, since, deletions_digest AS deletionsDigest,
            count(id) AS deletionCount, coalesce(sum(octet_length(id)), 0) AS deletionBytes
     FROM organizations LEFT JOIN deletions USING (organization_id)
     GROUP BY organization_id ORDER BY organization_id`,
  );
  const organizations = declared.all().map((one) => ({ ...one, lists: byCollection(() => NO_RECORDS) }));
  const listsOf = new Map(organizations.map(({ organizationId, lists }) => [organizationId, lists]));
  const rows = database.prepare<
    [],
    Omit<DeclaredList, 'firstRow'> & Readonly<Record<'organizationId' | 'collection', string>>
  >(
    `SELECT organization_id AS organizationId, collection, row_count AS rowCount, record_count AS recordCount,
            record_bytes AS recordBytes, text_bytes AS textBytes, list_elements AS listElements,
            longest_row AS longestRow, records_sum AS recordsSum, digest
     FROM lists ORDER BY organization_id, collection`,
  );
  const counts: Record<string, number> = byCollection(() => 0);
  for (const { organizationId, collection, ...list } of rows.iterate()) {
    const lists: Record<string, DeclaredList> | undefined = listsOf.get(organizationId);
    if (lists === undefined)
      throw inconsistent(`"lists" has rows for "${organizationId}", which is not in "organizations"`);
    if (!Object.hasOwn(lists, collection))
      throw inconsistent(
        `"lists" has a row of "${organizationId}" for "${collection}", which is no collection`,
      );
    lists[collection] = { ...list, firstRow: counts[collection] + 1 };
    counts[collection] += list.recordCount;
  }
  return organizations;
}

/** Refuses malformed ids and times of snapshots, and a history that is not in the order of their times. */
function checkHistory(manifest: Manifest): void {
  let latest: Instant | undefined;
  const { ancestors, epoch, changesSince } = manifest;
  if (!UUID.test(epoch)) throw inconsistent(`its epoch "${epoch}" is not a UUID`);
  for (const { snapshotId, producedAt } of [...ancestors, manifest]) {
    if (!UUID.test(snapshotId)) throw inconsistent(`its snapshot_id "${snapshotId}" is not a UUID`);
    const instant = instantOf(producedAt);
    if (latest !== undefined && instant <= latest)
      throw inconsistent(`its snapshot of ${producedAt} is not later than the ancestor before it`);
    latest = instant;
  }
  if (changesSince !== '' && (latest === undefined || instantOf(changesSince) > latest))
    throw inconsistent(`it has changes since ${changesSince}, which is after the snapshot`);
  for (const { organizationId, since } of manifest.organizations) {
    if (latest === undefined || instantOf(since) > latest)
      throw inconsistent(`the history of organization "${organizationId}" begins after the snapshot`);
  }
}

/** Refuses counts and sums out of bounds, and more bytes than the files have. */
export function checkLists({ organizations, changesSince }: Manifest, fileBytes: number): void {
  let declaredBytes = 0;
  for (const { organizationId, lists } of organizations) {
    for (const { name } of COLLECTIONS) {
      const { rowCount, recordCount, recordBytes, textBytes, listElements, longestRow, recordsSum } =
        lists[name];
      const list = `${name} of "${organizationId}"`;
      const counts = [rowCount, recordCount, recordBytes, textBytes, listElements];
      const isComplete = changesSince === '' ? rowCount === recordCount : rowCount <= recordCount;
      const isBounded =
        isComplete && recordBytes >= recordCount && longestRow >= 0 && longestRow <= MAX_ROW_BYTES;
      if (
        counts.some((one) => one < 0 || one > fileBytes) ||
        !isBounded ||
        isDeclared(lists[name]) !== recordCount > 0
      )
        throw inconsistent(`"lists" is out of bounds for ${list}`);
      if (!/^[0-9a-f]{64}$/.test(recordsSum))
        throw inconsistent(`the records_sum of ${list} is not 64 hexadecimal digits`);
      declaredBytes += recordBytes + textBytes;
    }
  }
  if (declaredBytes > fileBytes)
    throw inconsistent(`"lists" declares ${declaredBytes} bytes, but the file has ${fileBytes} bytes`);
}

/** Refuses tables with other rows than "lists" declares, and deletions of other organizations. */
function checkRows(database: Database.Database, manifest: Manifest): void {
  const counts = totalCounts(manifest);
  for (const { name } of COLLECTIONS) {
    const { [name]: declared } = counts;
    const bounds = database.prepare<[], readonly [first: number | null, last: number | null]>(
      `SELECT (SELECT min(row) FROM ${name}), (SELECT max(row) FROM ${name})`,
    );
    const [first, last] = bounds.raw().get() ?? [null, null];
    const isWhole = manifest.changesSince === '';
    const isSound =
      first === null || last === null
        ? declared === 0 || !isWhole
        : last <= declared && (isWhole ? first === 1 && last === declared : first >= 1);
    if (!isSound)
      throw inconsistent(`the rows of ${name} are ${first} to ${last}, but "lists" declares ${declared}`);
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

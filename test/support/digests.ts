import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/** Computes the digests of a snapshot file, as docs/snapshot-format.md defines them. Independent of src. */

export const COLLECTIONS = ['events', 'sessions', 'tickets', 'orders', 'offers'] as const;
export type Collection = (typeof COLLECTIONS)[number];

const SCHEMA = readFileSync(new URL('../../data/schema.sql', import.meta.url), 'utf8');

/** Returns the columns of a collection, in schema order, without row, organization and record. */
export function columnsOf(list: Collection): string[] {
  const [, table = ''] = new RegExp(`CREATE TABLE ${list} \\(([^]*?)\\n\\) STRICT`).exec(SCHEMA) ?? [];
  return Array.from(table.matchAll(/^ {2}(\w+)/gm), ([, name]) => name).slice(2, -1);
}

export function isListColumn(column: string): boolean {
  return ['tags', 'event_ids', 'resale_enabled'].includes(column);
}

const sha256 = (encoding: 'hex' | 'base64url', parts: readonly (string | Buffer)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest(encoding);
};

type Value = string | bigint | number | Buffer;

/** Returns values as a JSON array. Instants may exceed 2^53. */
const arrayOf = (values: readonly Value[]) =>
  `[${values.map((one) => (typeof one === 'string' ? JSON.stringify(one) : one)).join()}]`;
const line = (values: readonly Value[]) => `${arrayOf(values)}\n`;

function rowsOf(database: Database.Database, sql: string, ...parameters: readonly string[]): Value[][] {
  return database
    .prepare<string[], Value[]>(sql)
    .raw()
    .safeIntegers()
    .all(...parameters);
}

/** A JSON text of a list, which is written as it is. A malformed one has no elements. */
function elementsOf(json: string): string[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list)
      ? list.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
      : [];
  } catch {
    return [];
  }
}

/** Returns the row of table `lists` for a list, computed from its records. */
function listOf(database: Database.Database, organizationId: string, list: Collection): Value[] | undefined {
  const columns = columnsOf(list);
  const rows = rowsOf(
    database,
    `SELECT CAST(record AS BLOB), changed_at, ${columns.slice(0, -1).join(', ')} FROM ${list} WHERE organization_id = ? ORDER BY row`,
    organizationId,
  );
  if (rows.length === 0) return undefined;
  const isList = columns.map(isListColumn);
  const [values, records]: [string[], Buffer[]] = [[], []];
  let [recordBytes, textBytes, listElements, longest, sum] = [0, 0, 0, 0, 0n];
  for (const [stored, changedAt, id, ...others] of rows) {
    const record = Buffer.isBuffer(stored) ? stored : Buffer.of();
    const bytes = record.length;
    const texts = others.flatMap((value, i) => {
      if (typeof value !== 'string') return [];
      if (!isList[i + 1]) return [value];
      listElements += elementsOf(value).length;
      return elementsOf(value);
    });
    const bounded = [String(id), ...others.filter((value) => typeof value === 'string')];
    const json = [id, ...others]
      .map((value, i) => (isList[i] ? value : arrayOf([value]).slice(1, -1)))
      .join();
    recordBytes += bytes;
    textBytes += texts.reduce((all, text) => all + Buffer.byteLength(text), 0);
    longest = Math.max(
      longest,
      bounded.reduce((all, text) => all + Buffer.byteLength(text), bytes),
    );
    values.push(`[${bytes},${String(changedAt)},${json}],`);
    records.push(record, Buffer.from(','));
    sum += BigInt(`0x${sha256('hex', [`["${list}",${json}]\n`, record])}`);
  }
  const digest = sha256(
    'base64url',
    [values, records].map((parts) => `${sha256('hex', parts)}\n`),
  );
  const recordsSum = (sum % 2n ** 256n).toString(16).padStart(64, '0');
  const counts = [rows.length, rows.length, recordBytes, textBytes, listElements, longest];
  return [organizationId, list, ...counts, recordsSum, digest];
}

function manifestDigest(database: Database.Database): string {
  const rows = [
    'SELECT snapshot_id, produced_at, epoch, changes_since, permits_rollback, permits_shrink FROM snapshot',
    'SELECT snapshot_id, produced_at FROM ancestors ORDER BY rowid',
    'SELECT * FROM organizations ORDER BY organization_id',
    'SELECT * FROM lists ORDER BY organization_id, collection',
  ].flatMap((sql) => rowsOf(database, sql));
  return sha256('base64url', rows.map(line));
}

/** Updates the digests of a changed manifest and of deletions, but not those of the lists. */
export function restamp(path: string): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  const setDigest = database.prepare(
    'UPDATE organizations SET deletions_digest = ? WHERE organization_id = ?',
  );
  for (const [id] of rowsOf(database, 'SELECT organization_id FROM organizations')) {
    const deletions =
      'SELECT collection, id, deleted_at FROM deletions WHERE organization_id = ? ORDER BY 1, 2';
    setDigest.run(sha256('base64url', rowsOf(database, deletions, String(id)).map(line)), id);
  }
  database.prepare('UPDATE snapshot SET digest = ?').run(manifestDigest(database));
  database.close();
}

/** Updates table `lists` and all digests of a changed snapshot file, so that only other checks can refuse it. */
export function reseal(path: string): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  database.exec('DELETE FROM lists');
  const insert = database.prepare('INSERT INTO lists VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (const list of COLLECTIONS) {
    for (const [id] of rowsOf(database, `SELECT DISTINCT organization_id FROM ${list} ORDER BY 1`)) {
      const row = listOf(database, String(id), list);
      if (row !== undefined) insert.run(...row);
    }
  }
  database.close();
  restamp(path);
}

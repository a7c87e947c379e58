import type { CollectionName } from '../../contract/operations.ts';
import { createHash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type Bytes, MEGABYTE } from '../../store/memory/shared-arrays.ts';
import type { CollectionLayout } from './layout.ts';

/** Identification, schema and run rules of a snapshot file. `docs/snapshot-format.md` describes them. */

export const SCHEMA = readFileSync(new URL('../../../data/schema.sql', import.meta.url), 'utf8');

export const LENGTHS_COLUMN = 'record_lengths';
export const RECORDS_COLUMN = 'records';
export const CHANGED_COLUMN = 'changed_at';

export const MAX_RECORD_BYTES = MEGABYTE;
export const MAX_RUN_RECORDS = 4096;
/** Limit for each column of a run. The commas between records count. */
export const MAX_RUN_BYTES = 16 * MEGABYTE;
/** Limit for the runs of a snapshot, some 1,000,000,000 records. */
export const MAX_RUNS = 1_000_000;
/** Limit for the snapshots from which one descends. */
export const MAX_ANCESTORS = 20_000;
/** Limit for the ids and names of all organizations together. */
export const MAX_NAMES_BYTES = 64 * MEGABYTE;
/** Limit for each text of the manifest but the names of organizations and the ids of deleted records. */
export const MAX_TEXT_BYTES = 128;

/**
 * Returns the statements of a schema by object, such as `table runs`, in alphabetical order.
 * SQLite stores a statement as written. Comments are removed and white space is normalized, so that those of
 * `data/schema.sql` may change.
 */
export function schemaStatements(database: Database.Database): ReadonlyMap<string, string> {
  const statements = database
    .prepare<[], [object: string, statement: string]>(
      "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema ORDER BY 1",
    )
    .raw()
    .all();
  return new Map(
    statements.map(([object, statement]) => [object, statement.replace(/--.*/g, '').replace(/\s+/g, ' ')]),
  );
}

const reference = new Database(':memory:');
reference.exec(SCHEMA);

export const SCHEMA_STATEMENTS = schemaStatements(reference);
/** "Foyr", in the database header. */
export const APPLICATION_ID = Number(reference.pragma('application_id', { simple: true }));
export const FORMAT_VERSION = Number(reference.pragma('user_version', { simple: true }));

/** The texts of the tables that have no records, with the limit for each. */
export const MANIFEST_TEXTS = ['snapshot', 'ancestors', 'organizations', 'runs', 'deletions'].map(
  (table) => ({
    table,
    limits: reference
      .prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'")
      .pluck()
      .all(table)
      .map((column) => [column, /^(name|id)$/.test(column) ? MAX_RECORD_BYTES : MAX_TEXT_BYTES] as const),
  }),
);

reference.close();

export function contentColumns({ columns }: CollectionLayout): readonly string[] {
  return [LENGTHS_COLUMN, ...columns.map(({ column }) => column), RECORDS_COLUMN];
}

/** Returns the columns of a run table besides its key. */
export function allColumns(layout: CollectionLayout): readonly string[] {
  return [...contentColumns(layout), CHANGED_COLUMN];
}

/**
 * Returns whether the record with an id begins a run: the id's SHA-256 ends in ten zero bits.
 * A run therefore has some 1,000 records, and an added or removed record moves only the boundaries of its own run.
 */
export function beginsRun(id: string): boolean {
  // Latin-1: one character for each byte of the digest.
  const digest = hash('sha256', id, 'latin1');
  return digest.charCodeAt(31) === 0 && (digest.charCodeAt(30) & 0b11) === 0;
}

/**
 * Computes the digest of a run, base64url.
 *
 *     ["tickets",<record_count>,<bytes of each content column …>]\n    as JSON
 *     the content columns, concatenated in schema order
 */
export function runDigest(list: CollectionName, recordCount: number, columns: readonly Bytes[]): string {
  const lengths = columns.map(({ length }) => length);
  const digest = createHash('sha256').update(`${JSON.stringify([list, recordCount, ...lengths])}\n`);
  for (const column of columns) digest.update(column);
  return digest.digest('base64url');
}

/**
 * Computes the digest of a record as a number. It covers all that responses depend on.
 *
 *     ["tickets",<value of each index column …>]\n    as JSON
 *     the record
 *
 * @param values the values as JSON, in schema order
 */
export function recordDigest(list: CollectionName, values: readonly string[], record: string): bigint {
  return BigInt(`0x${hash('sha256', `["${list}",${values.join()}]\n${record}`)}`);
}

/** Returns a sum of records' digests, modulo 2^256, as it is stored: in 64 hexadecimal digits. */
export function sumText(sum: bigint): string {
  return BigInt.asUintN(256, sum).toString(16).padStart(64, '0');
}

export function changesDigest(column: Bytes): string {
  return hash('sha256', column, 'base64url');
}

import { createHash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import type { Bytes } from '../../store/memory/shared-arrays.ts';

/** Identification and schema of a snapshot file. `docs/snapshot-format.md` describes them. */

/** "Foyr", in the header of the file. */
export const APPLICATION_ID = 0x466f7972;
export const FORMAT_VERSION = 3;
export const SCHEMA = readFileSync(new URL('../../../data/schema.sql', import.meta.url), 'utf8');

const reference = new Database(':memory:');
reference.exec(SCHEMA);

/**
 * Returns the statements that made a schema, to be compared with those of `data/schema.sql`. SQLite keeps them as they
 * were written. Comments and white space are normalized, so that the wording of that file may change.
 */
export function schemaStatements(database: Database.Database): string[] {
  return database
    .prepare<[], string>(
      "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1",
    )
    .pluck()
    .all()
    .map((statement) => statement.replace(/--.*$/gm, '').replace(/\s+/g, ' '));
}

export const SCHEMA_STATEMENTS = schemaStatements(reference);

/** Columns that say where a run stands. All others are its content. */
export const PLACE_COLUMNS = ['organization_id', 'first_row'] as const;
/** Column with the lengths of the records in bytes. */
export const LENGTHS_COLUMN = 'record_lengths';
/** Column with the records, the last one of each run table. */
export const RECORDS_COLUMN = 'records';

/** Returns the content columns of a run table, in the order of the schema. */
export function contentColumns(table: string): readonly string[] {
  const columns = CONTENT_COLUMNS.get(table);
  if (columns === undefined) throw new TypeError(`no run table ${table}`);
  return columns;
}

const CONTENT_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map(
  reference
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '%\\_runs' ESCAPE '\\'",
    )
    .pluck()
    .all()
    .map((table) => [table, columnsOf(table).slice(PLACE_COLUMNS.length)]),
);

reference.close();

function columnsOf(table: string): string[] {
  return reference.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
}

/** What cuts the records of a collection into runs, and what identifies the content of a run. */

/** Bytes of the JSON text of one record. */
export const MAX_RECORD_BYTES = 1024 * 1024;
export const MAX_RUN_RECORDS = 4096;
/** Bytes of the records of one run, commas included. */
export const MAX_RUN_BYTES = 16 * 1024 * 1024;

/**
 * Decides whether a record begins a run, by its id alone: the SHA-256 of the id ends in ten zero bits.
 * So a run has some 1,000 records, and a record that comes or goes moves no boundary but that of its own run.
 */
export function beginsRun(id: string): boolean {
  // A character for each byte: a text is made faster than a Buffer.
  const digest = hash('sha256', id, 'latin1');
  return digest.charCodeAt(31) === 0 && (digest.charCodeAt(30) & 0b11) === 0;
}

/**
 * Computes the digest of a run, base64url.
 *
 *     ["tickets",<record_count>,<bytes of each content column …>]\n    as JSON
 *     the content columns, one after the other, in the order of the schema
 */
export function runDigest(
  collection: CollectionName,
  recordCount: number,
  columns: readonly Bytes[],
): string {
  const lengths = columns.map(({ length }) => length);
  const digest = createHash('sha256').update(`${JSON.stringify([collection, recordCount, ...lengths])}\n`);
  for (const column of columns) digest.update(column);
  return digest.digest('base64url');
}

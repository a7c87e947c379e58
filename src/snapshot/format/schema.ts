import type { CollectionName } from '../../contract/operations.ts';
import { createHash, hash, type Hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type Bytes, MEGABYTE, type Uint32s } from '../../store/memory/shared-arrays.ts';
import type { CollectionLayout } from './layout.ts';

/** Identification, schema, limits and digests of a snapshot file. `docs/snapshot-format.md` describes them. */

export const SCHEMA = readFileSync(new URL('../../../data/schema.sql', import.meta.url), 'utf8');

export const RECORD_COLUMN = 'record';
export const CHANGED_COLUMN = 'changed_at';

export const MAX_RECORD_BYTES = MEGABYTE;
/** Limit for the texts of a row together. */
export const MAX_ROW_BYTES = 4 * MEGABYTE;
/** Limit for the lists of a snapshot, and for the organizations. */
export const MAX_LISTS = 1_000_000;
/** Limit for the snapshots from which one descends. */
export const MAX_ANCESTORS = 20_000;
/** Limit for the ids and names of all organizations together. */
export const MAX_NAMES_BYTES = 64 * MEGABYTE;
/** Limit for each text of the manifest but the names of organizations and the ids of deleted records. */
export const MAX_TEXT_BYTES = 128;

/**
 * Returns the statements of a schema by object, such as `table lists`, in alphabetical order.
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
export const MANIFEST_TEXTS = ['snapshot', 'ancestors', 'organizations', 'lists', 'deletions'].map(
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

/** The columns of a table that holds records, in its order, without the row. */
export function storedColumns({ idColumn, columns }: CollectionLayout): readonly string[] {
  const indexed = columns.map(({ column }) => column);
  return ['organization_id', idColumn, ...indexed, CHANGED_COLUMN, RECORD_COLUMN];
}

/** The SQL expressions of the values of a record. */
export function valueColumns({ idColumn, columns }: CollectionLayout): readonly string[] {
  return [`octet_length(${RECORD_COLUMN})`, CHANGED_COLUMN, idColumn, ...columns.map(({ column }) => column)];
}

/** Returns the SQL expression of the bytes of a row that are bounded. */
export function rowBytes({ idColumn, columns }: CollectionLayout): string {
  const texts = columns.filter(({ holds }) => holds !== 'instant').map(({ column }) => column);
  return [idColumn, ...texts, RECORD_COLUMN].map((column) => `octet_length(${column})`).join(' + ');
}

/**
 * Computes the digest of a list in a file, base64url: SHA-256 over two lines, the hexadecimal SHA-256 of the values of all
 * its records in the file, and that of the records, and a third of the rows in a file of changes. Values are JSON arrays
 * as of `valueColumns`. A comma follows each of them.
 */
export class ListDigest {
  readonly #values = createHash('sha256');
  readonly #records = createHash('sha256');
  readonly #rows: Hash | undefined;

  constructor(isOfChanges: boolean) {
    if (isOfChanges) this.#rows = createHash('sha256');
  }

  /** Adds the next records. */
  add(block: { readonly values: Bytes; readonly records: Bytes; readonly rows: Uint32s }): void {
    this.#values.update(block.values);
    this.#records.update(block.records);
    this.#rows?.update(`${block.rows.join()},`);
  }

  finish(): string {
    const lines = [this.#values, this.#records, this.#rows].map((one) =>
      one ? `${one.digest('hex')}\n` : '',
    );
    return hash('sha256', lines.join(''), 'base64url');
  }
}

/**
 * Computes the digest of a record as a number. It covers all that responses depend on.
 *
 *     ["tickets",<id>,<value of each index column …>]\n    as JSON
 *     the record
 *
 * @param values the id and the values as JSON, in schema order, with commas between them
 */
export function recordDigest(list: CollectionName, values: string, record: string): bigint {
  return BigInt(`0x${hash('sha256', `["${list}",${values}]\n${record}`)}`);
}

/** Returns a sum of records' digests, modulo 2^256, as it is stored: in 64 hexadecimal digits. */
export function sumText(sum: bigint): string {
  return BigInt.asUintN(256, sum).toString(16).padStart(64, '0');
}

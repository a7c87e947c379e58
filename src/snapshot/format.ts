import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/** What makes a file a snapshot of this version. `docs/snapshot-format.md` describes it. */

/** "Foyr", in the header of the file. */
export const APPLICATION_ID = 0x466f7972;
export const FORMAT_VERSION = 2;
export const SCHEMA = readFileSync(new URL('../../data/schema.sql', import.meta.url), 'utf8');

/** The column that holds what is served, in the tables of collections. */
export const RECORD_COLUMN = 'record';
/** Rows that are read, and digested, at a time. */
export const CHUNK_ROWS = 512;
/** Bytes of one record: far below what SQLite holds in one row, 10^9. */
export const MAX_RECORD_BYTES = 1024 * 1024;
/** Stands between the values of a chunk: a byte that no UTF-8 text holds. */
export const SEPARATOR = 0xff;

export interface Table {
  readonly name: string;
  /** Its columns but for `row`, in their order. */
  readonly columns: readonly string[];
  /** TEXT or INTEGER, by column. */
  readonly types: ReadonlyMap<string, string>;
}

const reference = new Database(':memory:');
reference.exec(SCHEMA);

/**
 * The statements that made a schema, which must be those of `data/schema.sql`. SQLite keeps them as they were written:
 * comments to the end of a line and white space are not compared, so that the words of that file may change.
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

/** The tables of content in the order of the schema, which is that of the digest. */
export const CONTENT_TABLES: readonly Table[] = reference
  .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
  .pluck()
  .all()
  .map((name) => ({ name, types: columnTypes(name) }))
  .filter(({ types }) => types.delete('row'))
  .map(({ name, types }) => ({ name, types, columns: [...types.keys()] }));

reference.close();

function columnTypes(table: string): Map<string, string> {
  const columns = reference
    .prepare<[string], { name: string; type: string }>('SELECT name, type FROM pragma_table_info(?)')
    .all(table);
  return new Map(columns.map(({ name, type }) => [name, type]));
}

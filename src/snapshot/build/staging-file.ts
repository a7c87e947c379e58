import Database from 'better-sqlite3';
import {
  type CollectionLayout,
  COLLECTIONS,
  type ColumnLayout,
  type ImportedRecord,
} from '../format/layout.ts';
import { beginsRun } from '../format/schema.ts';
import type { ReadRecord } from './record-reader.ts';

/** A record between import and snapshot: the values of a row of a staging table, in the order of its columns. */
export type StagedRow = readonly (string | number | bigint)[];

/** @param line of the record in the import file */
export function stagedRow(layout: CollectionLayout, line: number, record: ReadRecord): StagedRow {
  return [
    line,
    record.organization,
    record.orderedBy,
    sortKey(record.id),
    beginsRun(record.id) ? 1 : 0,
    ...layout.columns.map((column) => columnValue(column, record)),
    record.json,
  ];
}

/** Returns the value of a column for one record: an element of the JSON array that the column of a run is. */
function columnValue(column: ColumnLayout, record: ImportedRecord): string {
  switch (column.holds) {
    case 'text': {
      const text = column.of(record);
      return JSON.stringify(text.isWellFormed() ? text : '');
    }
    case 'instant':
      return String(column.of(record));
    case 'list': {
      // Text with half of a surrogate pair is served, but no request can name it.
      const texts = column.of(record).filter((text) => text.isWellFormed());
      return JSON.stringify([...new Set(texts)]);
    }
  }
}

/**
 * Returns a text whose order by UTF-8 bytes, which is SQLite's, is the order of ids by UTF-16 code unit.
 *
 * The two orders differ for characters beyond U+FFFF: their surrogates are below U+E000, their UTF-8 is above all
 * others. So each surrogate becomes a character of its own, and the characters behind it make room:
 *
 *     D800 … DFFF  →  U+E000  … U+E7FF
 *     E000 … FFFF  →  U+10000 … U+11FFF
 */
export function sortKey(id: string): string {
  return id.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCodePoint(code + (code < 0xe000 ? 0x800 : 0x2000));
  });
}

/** Fewer and fuller pages than SQLite's default of 4096 bytes: records have about a kilobyte. */
const PAGE_BYTES = 16_384;
/** Rows are only appended: hardly any page is written to again. */
const CACHE_BYTES = 4 * 1024 * 1024;

/** The temporary SQLite file of one import thread: a table for each collection, with the records that it read. */
export class StagingFile {
  readonly #database: Database.Database;
  readonly #inserts: ReadonlyMap<CollectionLayout, Database.Statement>;

  /** @param path a file that is not there yet */
  constructor(path: string) {
    this.#database = new Database(path);
    this.#database.pragma(`page_size = ${PAGE_BYTES}`);
    this.#database.pragma(`cache_size = -${CACHE_BYTES / 1024}`);
    this.#database.pragma('journal_mode = OFF');
    this.#database.pragma('synchronous = OFF');
    this.#database.pragma('locking_mode = EXCLUSIVE');
    this.#database.exec('BEGIN');
    this.#inserts = new Map(COLLECTIONS.map((layout) => [layout, this.#createTable(layout)]));
  }

  add(layout: CollectionLayout, row: StagedRow): void {
    this.#inserts.get(layout)?.run(row);
  }

  /** Completes the file, for others to read. */
  finish(): void {
    this.#database.exec('COMMIT');
    this.#database.close();
  }

  #createTable({ name, columns }: CollectionLayout): Database.Statement {
    const declarations = [
      'line INTEGER PRIMARY KEY', // of the import file
      'organization INTEGER NOT NULL', // its position in the order of the ids
      'instant INTEGER NOT NULL', // the timestamp that the list is ordered by
      'id TEXT NOT NULL', // as a sort key
      'begins_run INTEGER NOT NULL',
      ...columns.map(({ column }) => `${column} TEXT NOT NULL`), // the value as JSON
      'record TEXT NOT NULL',
    ];
    this.#database.exec(`CREATE TABLE ${name} (${declarations.join(', ')}) STRICT`);
    return this.#database.prepare(`INSERT INTO ${name} VALUES (${declarations.map(() => '?').join(', ')})`);
  }
}

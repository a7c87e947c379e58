import Database from 'better-sqlite3';
import { COLLECTIONS } from '../format/layout.ts';
import type { CollectionLayout } from '../format/layout.ts';
import type { StagedRow } from './staged-row.ts';

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

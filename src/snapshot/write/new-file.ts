import Database from 'better-sqlite3';
import type { DigestedManifest } from '../format/manifest.ts';
import { SCHEMA } from '../format/schema.ts';
import { MAX_PAGE_BYTES } from '../format/snapshot-file.ts';
import { completeSnapshot, type WrittenOrganization } from './complete-snapshot.ts';

/**
 * Creates a database that no other process reads, and that need not survive a crash. A transaction is begun.
 * @param pageBytes large pages suit records of a kilobyte that are sorted
 */
export function newDatabase(path: string, pageBytes = MAX_PAGE_BYTES): Database.Database & Disposable {
  const database = new Database(path);
  database.pragma(`page_size = ${pageBytes}`);
  database.pragma('journal_mode = OFF');
  database.pragma('synchronous = OFF');
  database.pragma('locking_mode = EXCLUSIVE');
  database.exec('BEGIN');
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}

/** Pages for rows of a kilobyte, of which a look-up reads few. */
const WHOLE_PAGE_BYTES = 16_384;
/** Smaller ones, since the changes may be few. */
const CHANGES_PAGE_BYTES = 4096;

/** A snapshot file that is being written: whole, or one of changes. No other process reads it yet. */
export class NewFile implements Disposable {
  readonly database: Database.Database;
  /** SQL that creates the indexes, once all records are written. */
  readonly #indexes: readonly string[];

  constructor(path: string, isOfChanges = false) {
    this.database = newDatabase(path, isOfChanges ? CHANGES_PAGE_BYTES : WHOLE_PAGE_BYTES);
    this.database.exec(SCHEMA);
    const indexes = this.database
      .prepare<[], { name: string; sql: string }>(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql NOTNULL",
      )
      .all();
    for (const { name } of indexes) this.database.exec(`DROP INDEX ${name}`);
    this.#indexes = indexes.map(({ sql }) => sql);
  }

  /** Creates the indexes. Pauses after each. */
  *index(): Generator<undefined, void> {
    for (const sql of this.#indexes) {
      this.database.exec(sql);
      yield;
    }
  }

  /** Checks the records, writes the manifest, and closes the file. Pauses after each step. */
  *complete(
    snapshot: Omit<DigestedManifest, 'organizations'>,
    organizations: readonly WrittenOrganization[],
  ): Generator<undefined, void> {
    yield* completeSnapshot(this.database, snapshot, organizations);
    this.database.exec('COMMIT');
    this.database.close();
  }

  [Symbol.dispose](): void {
    this.database.close();
  }
}

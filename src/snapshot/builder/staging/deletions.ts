import Database from 'better-sqlite3';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import { DELETIONS } from '../../format/layout.ts';
import { beginsRun } from '../../format/schema.ts';
import { columnValue } from '../import/record-reader.ts';
import { idOf, type StagedRecord, sortKey } from './staging-file.ts';

/** The deletions of a snapshot, in a temporary file: the staging file is read while they are found. */
export class Deletions {
  /** SQLite removes a database without a name when it is closed. */
  readonly #database = new Database('');
  readonly #insert: Database.Statement<[number, string, string, string, bigint]>;

  constructor() {
    this.#database.exec(`
      CREATE TABLE deletions (
        organization INTEGER, collection TEXT, id TEXT, deleted_at TEXT, instant INTEGER,
        PRIMARY KEY (organization, collection, id)
      ) WITHOUT ROWID;
      BEGIN`);
    this.#insert = this.#database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?, ?)');
  }

  /** @param deletedAt time of the first snapshot that lacks the record: ISO 8601, in UTC with `Z` */
  add(organization: number, collection: string, id: string, deletedAt: string): void {
    this.#insert.run(organization, collection, sortKey(id), deletedAt, parseTimestamp(deletedAt) ?? 0n);
  }

  /** Iterates over the deletions, by organization and in list order. */
  *records(): Generator<StagedRecord> {
    const rows = this.#database
      .prepare<[], [organization: number, collection: string, key: string, deletedAt: string]>(
        `SELECT organization, collection, id, deleted_at FROM deletions
         ORDER BY organization, instant, id, collection`,
      )
      .raw();
    for (const [organization, collection, key, deletedAt] of rows.iterate()) {
      const id = idOf(key);
      const record = { collection, id, deletedAt };
      const values = DELETIONS.columns.map((column) =>
        columnValue(column, { served: record, imported: record }),
      );
      yield { organization, beginsRun: beginsRun(id), values, json: JSON.stringify(record) };
    }
  }

  close(): void {
    this.#database.close();
  }
}

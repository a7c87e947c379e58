import Database from 'better-sqlite3';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import { DELETIONS } from '../../format/layout.ts';
import { beginsRun } from '../../format/schema.ts';
import { columnValue, type StagedRecord, sortKey } from './staging-file.ts';

/** A record that an earlier snapshot held and this one lacks. */
export interface Deletion {
  /** Position of the organization in the order of the ids. */
  readonly organization: number;
  readonly collection: string;
  readonly id: string;
  /** Time of the first snapshot that lacks the record: ISO 8601, in UTC with `Z`. */
  readonly deletedAt: string;
}

/** The deletions of a snapshot, in a temporary file: the staging file is read while they are found. */
export class Deletions {
  /** SQLite removes a database without a name when it is closed. */
  readonly #database = new Database('');
  readonly #insert: Database.Statement<[number, string, string, string, string, bigint]>;

  constructor() {
    this.#database.exec(`
      CREATE TABLE deletions (
        organization INTEGER, collection TEXT, sort_key TEXT, id TEXT, deleted_at TEXT, instant INTEGER,
        PRIMARY KEY (organization, collection, sort_key)
      ) WITHOUT ROWID;
      BEGIN`);
    this.#insert = this.#database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?, ?, ?)');
  }

  add({ organization, collection, id, deletedAt }: Deletion): void {
    const instant = parseTimestamp(deletedAt) ?? 0n;
    this.#insert.run(organization, collection, sortKey(id), id, deletedAt, instant);
  }

  close(): void {
    this.#database.close();
  }

  /** Iterates over the deletions, by organization and in list order. */
  *records(): Generator<StagedRecord> {
    const rows = this.#database.prepare<[], Deletion>(
      `SELECT organization, collection, id, deleted_at AS deletedAt FROM deletions
       ORDER BY organization, instant, sort_key, collection`,
    );
    for (const { organization, collection, id, deletedAt } of rows.iterate()) {
      const record = { collection, id, deletedAt };
      yield {
        organization,
        beginsRun: beginsRun(id),
        values: DELETIONS.columns.map((column) => columnValue(column, { served: record, imported: record })),
        json: JSON.stringify(record),
      };
    }
  }
}

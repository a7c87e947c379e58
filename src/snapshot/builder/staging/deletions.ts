import type Database from 'better-sqlite3';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import { type CollectionLayout, DELETIONS } from '../../format/layout.ts';
import { beginsRun } from '../../format/schema.ts';
import type { StagedRecord } from '../merge/snapshot-writer.ts';
import { columnValue, sortKey } from './staging-file.ts';

/** A record that an earlier snapshot held and this one lacks. */
export interface Deletion {
  /** Position of the organization in the order of the ids. */
  readonly organization: number;
  readonly collection: string;
  readonly id: string;
  /** Time of the first snapshot that lacks the record: ISO 8601, in UTC with `Z`. */
  readonly deletedAt: string;
}

/** The deletions of a snapshot, in a table of the staging file. */
export class Deletions {
  readonly #database: Database.Database;
  readonly #insert: Database.Statement<[number, string, string, string, string, bigint]>;

  constructor(database: Database.Database) {
    database.exec(`
      CREATE TABLE deletions (
        organization INTEGER, collection TEXT, sort_key TEXT, id TEXT, deleted_at TEXT, instant INTEGER,
        PRIMARY KEY (organization, collection, sort_key)
      ) WITHOUT ROWID`);
    this.#database = database;
    this.#insert = database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?, ?, ?)');
  }

  add({ organization, collection, id, deletedAt }: Deletion): void {
    const instant = parseTimestamp(deletedAt) ?? 0n;
    this.#insert.run(organization, collection, sortKey(id), id, deletedAt, instant);
  }

  /**
   * Adds the deletions that a query selects as `organization`, `collection`, `sort_key` and `id`.
   * @param deletedAt ISO 8601, in UTC with `Z`
   */
  addSelected(query: string, deletedAt: string): void {
    this.#database
      .prepare<[string, bigint]>(
        `INSERT OR IGNORE INTO deletions SELECT organization, collection, sort_key, id, ?, ? FROM (${query})`,
      )
      .run(deletedAt, parseTimestamp(deletedAt) ?? 0n);
  }

  /**
   * Removes the deletions of records that exist.
   * @param rows SQL that selects `organization` and `id` of the records of a collection
   */
  removeExisting({ name }: CollectionLayout, rows: string): void {
    const any = this.#database.prepare<[string]>('SELECT 1 FROM deletions WHERE collection = ? LIMIT 1');
    if (any.get(name) === undefined) return;
    // CROSS JOIN looks up each record in the primary key, instead of each deletion among the records.
    this.#database.exec(`
      DELETE FROM deletions WHERE collection = '${name}' AND (organization, sort_key) IN (
        SELECT deleted.organization, deleted.sort_key
        FROM (${rows}) AS record CROSS JOIN deletions AS deleted
        WHERE deleted.organization = record.organization AND deleted.collection = '${name}' AND deleted.sort_key = record.id
      )`);
  }

  /** Returns the number of deletions at a time. */
  countAt(deletedAt: string): number {
    const count = this.#database.prepare<[string], number>(
      'SELECT count(*) FROM deletions WHERE deleted_at = ?',
    );
    return count.pluck().get(deletedAt) ?? 0;
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

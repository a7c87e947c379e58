import type Database from 'better-sqlite3';
import { hashBytes } from '../../store/index/texts.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { sortKey } from './staging-file.ts';

/** Bits of the filter: 8 MB. With 1,000,000 changes, one in 67 other ids passes it. */
const FILTER_BITS = 26;

/** What an import does to a record of its base. */
export type Change = 'replaced' | 'deleted';

/** Number of changes to a base. */
export interface ChangeCounts extends Readonly<Record<Change, number>> {
  readonly added: number;
  /** Deletions of records that the base does not have. */
  readonly withoutRecord: number;
}

/**
 * The ids of the records that an import adds to its base, replaces or deletes.
 * A table of the staging file holds them. A filter in memory spares the look-up of most other ids.
 */
export class ChangedIds {
  /** Number of records of the base that were found to change, so far. */
  readonly found: Record<Change, number> = { replaced: 0, deleted: 0 };
  readonly #database: Database.Database;
  readonly #filter = new Uint8Array(2 ** (FILTER_BITS - 3));
  readonly #insertDeletion: Database.Statement<[string, number, string]>;
  readonly #selectDeleted: Database.Statement<[string, number, string], number>;
  readonly #selectAny: Database.Statement<[string, number], number>;

  constructor(database: Database.Database) {
    database.exec(`
      CREATE TABLE changed_ids (
        collection TEXT, organization INTEGER, id TEXT, is_deleted INTEGER, PRIMARY KEY (collection, organization, id)
      ) WITHOUT ROWID`);
    this.#database = database;
    this.#insertDeletion = database.prepare('INSERT OR IGNORE INTO changed_ids VALUES (?, ?, ?, 1)');
    const where = 'FROM changed_ids WHERE collection = ? AND organization = ?';
    this.#selectDeleted = database
      .prepare<[string, number, string], number>(`SELECT is_deleted ${where} AND id = ?`)
      .pluck();
    this.#selectAny = database.prepare<[string, number], number>(`SELECT 1 ${where} LIMIT 1`).pluck();
  }

  addDeletion(collection: string, organization: number, id: string): void {
    this.#insertDeletion.run(collection, organization, sortKey(id));
  }

  /**
   * Adds the records that take the place of those of the base. A record that is also deleted exists afterwards.
   * @param rows SQL that selects `organization` and `id` of all imported records of a collection
   */
  addRecords({ name }: CollectionLayout, rows: string): void {
    this.#database.exec(
      `INSERT OR REPLACE INTO changed_ids SELECT '${name}', organization, id, 0 FROM (${rows})`,
    );
  }

  /** Removes the records that change from a table of records of the base, and counts them. */
  removeFrom({ name }: CollectionLayout, table: string, condition: string): void {
    const remove = this.#database.prepare<[string, number]>(
      `DELETE FROM ${table} WHERE ${condition} AND (organization, id) IN
         (SELECT organization, id FROM changed_ids WHERE collection = ? AND is_deleted = ?)`,
    );
    this.found.replaced += remove.run(name, 0).changes;
    this.found.deleted += remove.run(name, 1).changes;
  }

  /** Fills the filter after the last id. */
  finish(): void {
    for (const id of this.#database.prepare<[], string>('SELECT id FROM changed_ids').pluck().iterate()) {
      const bytes = Buffer.from(id);
      const bit = hashBytes(bytes, 0, bytes.length) >>> (32 - FILTER_BITS);
      this.#filter[bit >>> 3] |= 1 << (bit & 7);
    }
  }

  /** Returns the number of changes once all records of the base that change are found. */
  counts(): ChangeCounts {
    const [records, deletions] = this.#database
      .prepare<[], [records: number, deletions: number]>(
        'SELECT total(is_deleted = 0), total(is_deleted = 1) FROM changed_ids',
      )
      .raw()
      .all()[0];
    const { replaced, deleted } = this.found;
    return { replaced, added: records - replaced, deleted, withoutRecord: deletions - deleted };
  }

  /** Returns whether the import names a record of a collection of an organization. */
  hasAny({ name }: CollectionLayout, organization: number): boolean {
    return this.#selectAny.get(name, organization) !== undefined;
  }

  /**
   * Returns false when the import does not name an id of ASCII characters.
   * @param hash `hashBytes` of the id
   */
  mayHave(hash: number): boolean {
    const bit = hash >>> (32 - FILTER_BITS);
    return (this.#filter[bit >>> 3] & (1 << (bit & 7))) !== 0;
  }

  /** Returns the change of a record of the base; undefined when it stays. */
  changeOf({ name }: CollectionLayout, organization: number, id: string): Change | undefined {
    const isDeleted = this.#selectDeleted.get(name, organization, sortKey(id));
    return isDeleted === undefined ? undefined : isDeleted === 1 ? 'deleted' : 'replaced';
  }
}

import type Database from 'better-sqlite3';
import { hashBytes } from '../../../store/index/texts.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import { sortKey } from './staging-file.ts';

/** Bits of the filter: 8 MB. With 1,000,000 changes, one in 67 other ids passes it. */
const FILTER_BITS = 26;

/** The effect of an import on a record of its base. */
export type Change = 'replaced' | 'deleted';

/** SQL that selects `organization`, `collection`, `sort_key` and `id` of the deletions found in a base. */
export const FOUND_DELETIONS =
  'SELECT organization, collection, sort_key, id FROM changed_ids WHERE deletion > 0 AND is_found(deletion)';

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
  #deletions = 0;
  /** A bit for each deletion, by its number. */
  #foundDeletions = new Uint8Array(1);
  readonly #filter = new Uint8Array(2 ** (FILTER_BITS - 3));
  readonly #insertDeletion: Database.Statement<[string, number, string, number, string]>;
  readonly #selectDeletion: Database.Statement<[string, number, string], number>;
  readonly #selectAny: Database.Statement<[string, number], number>;

  constructor(database: Database.Database) {
    database.exec(`
      CREATE TABLE changed_ids (
        collection TEXT, organization INTEGER, sort_key TEXT, deletion INTEGER, id TEXT,
        PRIMARY KEY (collection, organization, sort_key)
      ) WITHOUT ROWID`);
    database.function('is_found', (deletion: number) => Number(this.#isFound(deletion)));
    this.#database = database;
    this.#insertDeletion = database.prepare('INSERT OR IGNORE INTO changed_ids VALUES (?, ?, ?, ?, ?)');
    const where = 'FROM changed_ids WHERE collection = ? AND organization = ?';
    this.#selectDeletion = database
      .prepare<[string, number, string], number>(`SELECT deletion ${where} AND sort_key = ?`)
      .pluck();
    this.#selectAny = database.prepare<[string, number], number>(`SELECT 1 ${where} LIMIT 1`).pluck();
  }

  addDeletion(collection: string, organization: number, id: string): void {
    this.#deletions++;
    this.#insertDeletion.run(collection, organization, sortKey(id), this.#deletions, id);
  }

  /**
   * Adds the records that take the place of those of the base. A record that is also deleted exists afterwards.
   * @param rows SQL that selects `organization` and `id` of all imported records of a collection
   */
  addRecords({ name }: CollectionLayout, rows: string): void {
    this.#database.exec(
      `INSERT OR REPLACE INTO changed_ids SELECT '${name}', organization, id, 0, NULL FROM (${rows})`,
    );
  }

  /** Removes the records that change from a table of records of the base, and counts them. */
  removeFrom({ name }: CollectionLayout, table: string, condition: string): void {
    const remove = (deletion: string) =>
      this.#database
        .prepare<[string]>(
          `DELETE FROM ${table} WHERE ${condition} AND (organization, id) IN
             (SELECT organization, sort_key FROM changed_ids WHERE collection = ? AND ${deletion})`,
        )
        .run(name).changes;
    this.found.replaced += remove('deletion = 0');
    this.found.deleted += remove('deletion > 0');
  }

  /** Prepares the look-ups, after the last id. */
  finish(): void {
    this.#foundDeletions = new Uint8Array((this.#deletions >>> 3) + 1);
    for (const id of this.#database
      .prepare<[], string>('SELECT sort_key FROM changed_ids')
      .pluck()
      .iterate()) {
      const bytes = Buffer.from(id);
      const bit = hashBytes(bytes, 0, bytes.length) >>> (32 - FILTER_BITS);
      this.#filter[bit >>> 3] |= 1 << (bit & 7);
    }
  }

  /** Returns the number of changes once all records of the base that change are found. */
  counts(): ChangeCounts {
    const [records, deletions] = this.#database
      .prepare<[], [records: number, deletions: number]>(
        'SELECT total(deletion = 0), total(deletion > 0) FROM changed_ids',
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

  /** Finds the change of a record of the base; undefined when it stays. Each record is looked up once. */
  find({ name }: CollectionLayout, organization: number, id: string): Change | undefined {
    const deletion = this.#selectDeletion.get(name, organization, sortKey(id));
    if (deletion === undefined) return undefined;
    if (deletion > 0) this.#foundDeletions[deletion >>> 3] |= 1 << (deletion & 7);
    const change = deletion > 0 ? 'deleted' : 'replaced';
    this.found[change]++;
    return change;
  }

  #isFound(deletion: number): boolean {
    return (this.#foundDeletions[deletion >>> 3] & (1 << (deletion & 7))) !== 0;
  }
}

import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import { decodeText, hashBytes, hashText, type Texts } from '../../../store/index/texts.ts';
import { idOf, type Origin, sortKey } from './staging-file.ts';

/** Bits of the filter: 8 MB. With 1,000,000 ids, one in 67 others passes it. */
const FILTER_BITS = 26;

/**
 * What a build has for an id: a line, also a bad one, a deletion, from this organization or from any, or a record of the
 * base that stays.
 */
type Named = Origin | 'bad' | 'deletion' | 'deletion anywhere';

/** In place of the organization of a deletion that names none. It sorts before all others. */
const ANYWHERE = -1;

/**
 * The ids that a build names, with their origin. An imported record takes the place of a deletion, and each of both that
 * of a record of the base. Records of the base are added only where they are staged.
 *
 *     ids    collection, organization, id (a sort key) → origin, line, instant
 */
export class StagedIds {
  readonly #database: Database.Database;
  readonly #isHeld: (organization: number) => boolean;
  readonly #insert: Database.Statement<[string, number, Buffer, Named, number | null, bigint | null]>;
  readonly #select: Database.Statement<[string, number, number, Buffer], Named>;
  /** Has a bit for each id, by its hash. It spares the look-up of most ids that are not named. */
  #filter: Uint8Array | undefined;

  /**
   * Also defines the SQL functions `sort_key` and `id_of`.
   * @param isHeld whether deletions from any organization do not apply to one
   */
  constructor(database: Database.Database, isHeld: (organization: number) => boolean = () => false) {
    this.#isHeld = isHeld;
    database.function('sort_key', { deterministic: true }, (id: string | null) => id && sortKey(id));
    database.function('id_of', { deterministic: true }, (key: Buffer | null) => key && idOf(key));
    database.exec(`
      CREATE TABLE ids (
        collection TEXT, organization INTEGER, id BLOB, origin TEXT NOT NULL, line INTEGER, instant INTEGER,
        PRIMARY KEY (collection, organization, id)
      ) STRICT, WITHOUT ROWID`);
    this.#database = database;
    this.#insert = database.prepare('INSERT OR IGNORE INTO ids VALUES (?, ?, ?, ?, ?, ?)');
    this.#select = database.prepare(
      `SELECT origin FROM ids WHERE collection = ? AND organization IN (?, ?) AND id = ?
       ORDER BY organization DESC LIMIT 1`,
    );
    this.#select.pluck();
  }

  /** @param organization undefined for each one without a line of the record */
  addDeletion(collection: string, organization: number | undefined, id: string): void {
    const origin = organization === undefined ? 'deletion anywhere' : 'deletion';
    this.#insert.run(collection, organization ?? ANYWHERE, sortKey(id), origin, null, null);
  }

  /** Adds the id of a record of the base unless the import names it. Returns whether it was added. */
  addOfBase(collection: string, organization: number, id: string, line: number, instant: bigint): boolean {
    if (this.get(collection, organization, id) !== undefined) return false;
    return this.#insert.run(collection, organization, sortKey(id), 'base', line, instant).changes === 1;
  }

  /**
   * Adds the known lines of a collection. Of several with one id, the first counts, a bad one after all others.
   * Returns the number of distinct ids.
   */
  addLines(collection: CollectionName): number {
    const insert = this.#database.prepare<[string]>(`
      INSERT INTO ids SELECT ?, organization, id, origin, line, instant FROM known_${collection} WHERE TRUE
      ORDER BY organization, id, origin = 'bad', line
      ON CONFLICT DO UPDATE SET origin = excluded.origin, line = excluded.line, instant = excluded.instant
      WHERE origin = 'deletion' AND excluded.origin <> 'bad'`);
    return insert.run(collection).changes;
  }

  count(origin: Named): number {
    const count = this.#database.prepare<[Named], number>('SELECT count(*) FROM ids WHERE origin = ?');
    return count.pluck().get(origin) ?? 0;
  }

  /** Prepares look-ups of many ids of which the import names few. */
  buildFilter(): void {
    const filter = new Uint8Array(2 ** (FILTER_BITS - 3));
    for (const key of this.#database.prepare<[], Buffer>('SELECT id FROM ids').pluck().iterate()) {
      const bit = hashBytes(Buffer.from(idOf(key))) >>> (32 - FILTER_BITS);
      filter[bit >>> 3] |= 1 << (bit & 7);
    }
    this.#filter = filter;
  }

  /** Returns the origin of an id; undefined when the build does not name it. */
  get(collection: string, organization: number, id: string): Named | undefined {
    const anywhere = this.#isHeld(organization) ? organization : ANYWHERE;
    return this.#select.get(collection, organization, anywhere, sortKey(id));
  }

  /** Returns the origin of the id at a position of `ids`. */
  find(collection: string, organization: number, ids: Texts, i: number): Named | undefined {
    const bit = hashText(ids, i) >>> (32 - FILTER_BITS);
    if (this.#filter !== undefined && (this.#filter[bit >>> 3] & (1 << (bit & 7))) === 0) return undefined;
    return this.get(collection, organization, decodeText(ids, i));
  }
}

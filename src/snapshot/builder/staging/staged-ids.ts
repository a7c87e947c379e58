import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import { idOf, type Origin, sortKey } from './staging-file.ts';

/**
 * What a build has for an id: a line, also a bad one, a deletion, from this organization or from any, or a record of the
 * base that stays.
 */
type Named = Origin | 'bad' | 'deletion' | 'deletion anywhere';

/** In place of the organization of a deletion that names none. It sorts before all others. */
export const ANYWHERE = -1;

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

  /** Yields the ids of a collection that the build names, one that it deletes anywhere with each organization. */
  *named(
    collection: CollectionName,
    organizations: number,
  ): Generator<readonly [organization: number, id: string]> {
    const rows = this.#database.prepare<[string], [number, Buffer]>(
      'SELECT organization, id FROM ids WHERE collection = ? ORDER BY organization, id',
    );
    const select = this.#database.prepare<[string, number, Buffer]>(
      'SELECT 1 FROM ids WHERE collection = ? AND organization = ? AND id = ?',
    );
    for (const [named, key] of rows.raw().iterate(collection)) {
      const id = idOf(Buffer.from(key));
      if (named !== ANYWHERE) yield [named, id];
      else
        for (let organization = 0; organization < organizations; organization++)
          if (select.get(collection, organization, key) === undefined) yield [organization, id];
    }
  }

  /** Returns the origin of an id; undefined when the build does not name it. */
  get(collection: string, organization: number, id: string): Named | undefined {
    const anywhere = this.#isHeld(organization) ? organization : ANYWHERE;
    return this.#select.get(collection, organization, anywhere, sortKey(id));
  }
}

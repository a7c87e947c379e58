import type Database from 'better-sqlite3';
import { decodeText, hashBytes, type Texts } from '../../../store/index/texts.ts';
import { type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import { idOf, type Origin, sortKey } from './staging-file.ts';

/** Bits of the filter: 8 MB. With 1,000,000 ids, one in 67 others passes it. */
const FILTER_BITS = 26;

/** What an import has for an id: a line, a deletion, or neither, while the base has a record that stays. */
type Named = Origin | 'deletion';

interface Statements {
  readonly insert: Database.Statement<[number, string, Named, number | null, bigint | null]>;
  readonly select: Database.Statement<[number, string], Named>;
}

/**
 * The ids that a build names in each collection, with their origin. An imported record takes the place of a deletion,
 * and each of both that of a record of the base. Records of the base are added only where they are staged.
 *
 *     ids_tickets    organization, id (a sort key) → origin, line, instant
 */
export class StagedIds {
  readonly #database: Database.Database;
  readonly #statements: ReadonlyMap<string, Statements>;
  /** Has a bit for each id, by its hash. It spares the look-up of most ids that are not named. */
  #filter: Uint8Array | undefined;

  constructor(database: Database.Database) {
    const create = (table: string): Statements => {
      database.exec(`
        CREATE TABLE ${table} (
          organization INTEGER, id TEXT, origin TEXT NOT NULL, line INTEGER, instant INTEGER,
          PRIMARY KEY (organization, id)
        ) STRICT, WITHOUT ROWID`);
      const select = `SELECT origin FROM ${table} WHERE organization = ? AND id = ?`;
      return {
        insert: database.prepare(`INSERT OR IGNORE INTO ${table} VALUES (?, ?, ?, ?, ?)`),
        select: database.prepare<[number, string], Named>(select).pluck(),
      };
    };
    this.#database = database;
    this.#statements = new Map(COLLECTIONS.map(({ name }) => [name, create(`ids_${name}`)]));
  }

  addDeletion(collection: string, organization: number, id: string): void {
    this.#statements.get(collection)?.insert.run(organization, sortKey(id), 'deletion', null, null);
  }

  /** Adds the id of a record of the base unless the import names it. Returns whether it was added. */
  addOfBase(
    { name }: CollectionLayout,
    organization: number,
    id: string,
    line: number,
    instant: bigint,
  ): boolean {
    return (
      this.#statements.get(name)?.insert.run(organization, sortKey(id), 'base', line, instant).changes === 1
    );
  }

  /**
   * Adds the lines of a collection. Of several with one id, the first counts, a bad one after all others.
   * Returns the number of distinct ids.
   * @param lines SQL that selects `organization`, `id`, `origin`, `line` and `instant`; the origin of bad lines is `bad`
   */
  addLines({ name }: CollectionLayout, lines: string): number {
    const insert = this.#database.prepare(`
      INSERT INTO ids_${name} SELECT organization, id, origin, line, instant FROM (${lines}) WHERE TRUE
      ORDER BY organization, id, origin = 'bad', line
      ON CONFLICT DO UPDATE SET origin = excluded.origin, line = excluded.line, instant = excluded.instant
      WHERE origin = 'deletion' AND excluded.origin <> 'bad'`);
    return insert.run().changes;
  }

  removeBad({ name }: CollectionLayout): void {
    this.#database.exec(`DELETE FROM ids_${name} WHERE origin = 'bad'`);
  }

  /** Returns the number of ids of an origin. */
  count(origin: Named): number {
    const ids = COLLECTIONS.map(({ name }) => `SELECT origin FROM ids_${name}`).join(' UNION ALL ');
    const count = this.#database.prepare<[Named], number>(`SELECT count(*) FROM (${ids}) WHERE origin = ?`);
    return count.pluck().get(origin) ?? 0;
  }

  /** Prepares look-ups of many ids of which the import names few. */
  buildFilter(): void {
    const filter = new Uint8Array(2 ** (FILTER_BITS - 3));
    const ids = COLLECTIONS.map(({ name }) => `SELECT id FROM ids_${name}`).join(' UNION ALL ');
    for (const key of this.#database.prepare<[], string>(ids).pluck().iterate()) {
      const bytes = Buffer.from(idOf(key));
      const bit = hashBytes(bytes, 0, bytes.length) >>> (32 - FILTER_BITS);
      filter[bit >>> 3] |= 1 << (bit & 7);
    }
    this.#filter = filter;
  }

  /** Returns the origin of an id; undefined when the build does not name it. */
  get(collection: string, organization: number, id: string): Named | undefined {
    return this.#statements.get(collection)?.select.get(organization, sortKey(id));
  }

  /** Returns the origin of the id at a position of `ids`. */
  find({ name }: CollectionLayout, organization: number, ids: Texts, i: number): Named | undefined {
    const bit = ids.hashes[i] >>> (32 - FILTER_BITS);
    if (this.#filter !== undefined && (this.#filter[bit >>> 3] & (1 << (bit & 7))) === 0) return undefined;
    return this.get(name, organization, decodeText(ids, i));
  }
}

import type Database from 'better-sqlite3';
import type { CollectionLayout } from '../../format/layout.ts';
import { findPlace, type Place, placeOf } from '../../format/list-order.ts';
import type { DeclaredList } from '../../format/manifest.ts';
import { CHANGED_COLUMN, RECORD_COLUMN } from '../../format/schema.ts';
import type { EarlierRecord } from '../staging/earlier-snapshot.ts';
import type { StagedRecord } from '../staging/staging-file.ts';

/** Rows that are copied at once. */
const COPIED = 10_000;

/** Copies the records that stay of a collection of an earlier whole file, attached as `earlier`, in list order. */
export class EarlierList {
  readonly #layout: CollectionLayout;
  readonly #selectRecord: Database.Statement<[row: number], string>;
  readonly #insertLeaving: Database.Statement<[row: number]>;
  readonly #copy: Database.Statement<[from: number, to: number, count: number]>;
  /** The rows `from … to` are to be copied, except those that leave. */
  #from = 0;
  #to = 0;
  #end = 0;

  constructor(database: Database.Database, layout: CollectionLayout) {
    const { name, idColumn, columns } = layout;
    this.#layout = layout;
    this.#selectRecord = database.prepare<[number], string>(
      `SELECT record FROM earlier.${name} WHERE row = ?`,
    );
    this.#selectRecord.pluck();
    database.exec(`CREATE TEMP TABLE leaving_${name} (row INTEGER PRIMARY KEY)`);
    this.#insertLeaving = database.prepare(`INSERT OR IGNORE INTO leaving_${name} VALUES (?)`);
    const values = [idColumn, ...columns.map(({ column }) => column), CHANGED_COLUMN, RECORD_COLUMN];
    const copied = ['organization_id', ...values].join(', ');
    this.#copy = database.prepare(
      `INSERT INTO ${name} (${copied}) SELECT ${copied} FROM earlier.${name}
       WHERE row IN (SELECT row FROM earlier.${name} WHERE row >= ? AND row < ? LIMIT ?)
         AND row NOT IN leaving_${name} ORDER BY row`,
    );
  }

  /** Leaves a record out of the copy. */
  leave({ row }: EarlierRecord): void {
    this.#insertLeaving.run(row);
  }

  /** Begins to copy a list. Yields the numbers of records that were copied of those before it. */
  *begin({ firstRow, recordCount }: DeclaredList): Generator<number> {
    if (recordCount === 0) return;
    if (this.#to !== firstRow) yield* this.copy(firstRow);
    this.#end = firstRow + recordCount;
  }

  /** Copies the rest of the list up to a staged record that follows. Yields the numbers of records. */
  *copyBefore({ json }: StagedRecord, found: EarlierRecord | undefined): Generator<number> {
    const place = placeOf(this.#layout, json);
    const isInPlace = found !== undefined && placeOf(this.#layout, found.json).instant === place.instant;
    this.#to = isInPlace ? Math.max(found.row, this.#to) : this.#rowOf(place);
    yield* this.copy();
  }

  /** Adds the rest of the list to the rows to copy. */
  end(): void {
    this.#to = this.#end;
  }

  /**
   * Copies the rows so far. Yields the numbers of records.
   * @param next the row to continue with
   */
  *copy(next = this.#to): Generator<number> {
    while (this.#from < this.#to) {
      const to = Math.min(this.#from + COPIED, this.#to);
      yield this.#copy.run(this.#from, to, to - this.#from).changes;
      this.#from = to;
    }
    [this.#from, this.#to] = [next, next];
  }

  /** Returns the first row of the rest of the list whose record does not come before a place. */
  #rowOf(place: Place): number {
    const recordAt = (row: number) => this.#selectRecord.get(row) ?? '';
    return findPlace(this.#layout, place, this.#to, this.#end, recordAt);
  }
}

import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import { isBefore, type Place, placeOf } from '../../format/list-order.ts';
import type { DeclaredList } from '../../format/manifest.ts';
import { recordDigest } from '../../format/schema.ts';
import type { StagedRecord } from '../staging/staging-file.ts';

type Stored = readonly [
  row: bigint,
  changedAt: Instant,
  record: string,
  ...values: StagedRecord['values'][number][],
];

/** An earlier record with the id of a staged one. */
interface Found {
  readonly row: number;
  readonly record: string;
  /** Time of the snapshot in which it became as it is, if the staged one is the same; else undefined. */
  readonly changedAt: Instant | undefined;
}

/** Rows that are copied at once. */
const COPIED = 10_000;

/**
 * The records of a collection in an earlier snapshot, which is attached as `earlier`. Compares staged records with them,
 * and copies those that stay, in list order.
 */
export class EarlierList {
  readonly #layout: CollectionLayout;
  readonly #selectById: Database.Statement<[organizationId: string, id: string], Stored>;
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
    const values = columns.map(({ column }) => column);
    const byId = `SELECT ${['row', 'changed_at', 'record', ...values].join(', ')} FROM earlier.${name}
       WHERE organization_id = ? AND ${idColumn} = ?`;
    this.#selectById = database.prepare<[string, string], Stored>(byId).raw().safeIntegers();
    this.#selectRecord = database.prepare<[number], string>(
      `SELECT record FROM earlier.${name} WHERE row = ?`,
    );
    this.#selectRecord.pluck();
    database.exec(`CREATE TEMP TABLE leaving_${name} (row INTEGER PRIMARY KEY)`);
    this.#insertLeaving = database.prepare(`INSERT OR IGNORE INTO leaving_${name} VALUES (?)`);
    const copied = ['organization_id', idColumn, ...values, 'changed_at', 'record'].join(', ');
    this.#copy = database.prepare(
      `INSERT INTO ${name} (${copied}) SELECT ${copied} FROM earlier.${name}
       WHERE row IN (SELECT row FROM earlier.${name} WHERE row >= ? AND row < ? LIMIT ?)
         AND row NOT IN leaving_${name} ORDER BY row`,
    );
  }

  /** Leaves a record out of the copy. Returns its digest. */
  leave(organizationId: string, id: string): bigint {
    const stored = this.#selectById.get(organizationId, id);
    if (stored === undefined) return 0n;
    const [row, , json, ...values] = stored;
    this.#insertLeaving.run(Number(row));
    return stagedDigest(this.#layout, { id, values, json });
  }

  /** Finds the record with the id of a staged one. */
  find(organizationId: string, { id, values, json }: StagedRecord): Found | undefined {
    const stored = this.#selectById.get(organizationId, id);
    if (stored === undefined) return undefined;
    const [row, changedAt, record, ...others] = stored;
    const isSame = record === json && others.every((value, i) => value === values[i]);
    return { row: Number(row), record, changedAt: isSame ? changedAt : undefined };
  }

  /** Begins to copy a list. Yields the numbers of records that were copied of those before it. */
  *begin({ firstRow, recordCount }: DeclaredList): Generator<number> {
    if (recordCount === 0) return;
    if (this.#to !== firstRow) yield* this.copy(firstRow);
    this.#end = firstRow + recordCount;
  }

  /** Copies the rest of the list up to a staged record that follows. Yields the numbers of records. */
  *copyBefore({ json }: StagedRecord, found: Found | undefined): Generator<number> {
    const place = placeOf(this.#layout, json);
    const isInPlace = found !== undefined && placeOf(this.#layout, found.record).instant === place.instant;
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
    const isRowBefore = (row: number) =>
      isBefore(this.#layout, placeOf(this.#layout, this.#selectRecord.get(row) ?? ''), place);
    // Records that were added are often close to each other.
    let step = 1;
    let [low, high] = [this.#to, this.#to];
    while (high < this.#end && isRowBefore(high)) {
      low = high + 1;
      high = Math.min(high + step, this.#end);
      step *= 2;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isRowBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Computes the digest of a record from its stored values. */
export function stagedDigest(
  { name, columns }: CollectionLayout,
  { id, values, json }: Pick<StagedRecord, 'id' | 'values' | 'json'>,
): bigint {
  const elements = columns.map(({ holds }, i) =>
    holds === 'text' ? JSON.stringify(values[i]) : String(values[i]),
  );
  return recordDigest(name, [JSON.stringify(id), ...elements].join(), json);
}

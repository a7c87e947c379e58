import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import { hasRow, lowerBound } from '../../../store/index/row-sets.ts';
import type { Row } from '../../../store/memory/shared-arrays.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import { findPlace, placeOf } from '../../format/list-order.ts';
import { type DeclaredList, instantOf, NO_RECORDS } from '../../format/manifest.ts';
import { CHANGED_COLUMN, storedColumns } from '../../format/schema.ts';
import type { PairList } from '../../load/pair-list.ts';
import type { EarlierRecord, EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import { ListTotals } from './list-totals.ts';

type Statements = ReturnType<typeof mergeStatements>;

/** Prepares the statements for a collection. The latest file of the earlier snapshot is attached as `earlier`. */
export function mergeStatements(database: Database.Database, layout: CollectionLayout) {
  const { name } = layout;
  const columns = storedColumns(layout);
  const listed = columns.join(', ');
  database.exec(`CREATE TEMP TABLE added_${name} AS SELECT ${listed} FROM ${name} LIMIT 0`);
  return {
    add: database.prepare(`INSERT INTO added_${name} VALUES (${columns.map(() => '?').join()})`),
    putAdded: database.prepare<[row: Row, added: number | bigint]>(
      `INSERT INTO ${name} SELECT ?, ${listed} FROM added_${name} WHERE rowid = ?`,
    ),
    selectCarried: database
      .prepare<[from: Row, to: Row, count: number, since: Instant], Row>(
        `SELECT row FROM (SELECT row AS found FROM earlier.${name} WHERE row >= ? AND row < ? LIMIT ?)
           CROSS JOIN earlier.${name} ON row = found WHERE ${CHANGED_COLUMN} > ?`,
      )
      .pluck(),
    carry: database.prepare<[row: Row, from: Row]>(
      `INSERT INTO ${name} SELECT ?, ${listed} FROM earlier.${name} WHERE row = ?`,
    ),
  };
}

/**
 * Writes the changes of a list since the whole file of an earlier snapshot, whose records stay unless they are deleted or
 * replaced: records that are added now, and earlier changes. Rows count from 0 in the earlier list.
 */
export class MergedList {
  readonly #layout: CollectionLayout;
  readonly #statements: Statements;
  readonly #organizationId: string;
  readonly #earlier: EarlierSnapshot;
  readonly #list: DeclaredList;
  readonly #totals: ListTotals;
  readonly #left: Row[] = [];
  /** Where each added record is stored, and the row before which it comes. */
  readonly #added: { readonly rowid: number | bigint; readonly before: Row }[] = [];
  #pair: PairList | undefined;

  constructor(
    layout: CollectionLayout,
    statements: Statements,
    organizationId: string,
    earlier: EarlierSnapshot,
  ) {
    this.#layout = layout;
    this.#statements = statements;
    this.#organizationId = organizationId;
    this.#earlier = earlier;
    this.#list = earlier.organizations.get(organizationId)?.lists[layout.name] ?? NO_RECORDS;
    this.#totals = new ListTotals(layout, this.#list);
  }

  /** Leaves a record out. */
  leave(id: string): void {
    const found = this.#earlier.find(this.#layout, this.#organizationId, id);
    if (found !== undefined) this.#leave(found);
  }

  #leave(found: EarlierRecord): void {
    this.#totals.remove(found);
    this.#left.push(this.#rowOf(found));
  }

  #rowOf({ isChanged, row }: EarlierRecord): Row {
    const pair = this.#earlierPair();
    return isChanged ? row - pair.declared.firstRow : pair.rowOf(row - pair.whole.firstRow);
  }

  #earlierPair(): PairList {
    this.#pair ??= this.#earlier.pairOf(this.#layout, this.#organizationId);
    return this.#pair;
  }

  /** Puts the next staged record, in place of the one with its id, unless that is the same. */
  put(record: StagedRecord, changedAt: Instant, found?: EarlierRecord): void {
    if (changedAt === found?.changedAt) return;
    if (found !== undefined) this.#leave(found);
    this.#totals.add(record);
    const { id, values, json } = record;
    const stored = this.#statements.add.run(this.#organizationId, id, ...values, changedAt, json);
    this.#added.push({ rowid: stored.lastInsertRowid, before: this.#placeOf(json, found) });
  }

  /** Returns the row before which a record comes. */
  #placeOf(json: string, found: EarlierRecord | undefined): Row {
    const last = this.#added.at(-1)?.before ?? 0;
    const place = placeOf(this.#layout, json);
    const isInPlace = found !== undefined && placeOf(this.#layout, found.json).instant === place.instant;
    if (isInPlace) return Math.max(last, this.#rowOf(found));
    const pair = this.#earlierPair();
    const recordAt = (row: Row) => this.#earlier.recordAt(this.#layout, pair, row);
    return findPlace(this.#layout, place, last, pair.declared.recordCount, recordAt);
  }

  /**
   * Writes the earlier changes and the added records by their rows in the new list. Returns the list without its digest.
   * @param newFirst first row of the new list in the table
   */
  end(newFirst: Row): DeclaredList {
    const { selectCarried, carry, putAdded } = this.#statements;
    const { firstRow, recordCount, rowCount } = this.#list;
    const { whole, changes } = this.#earlier.snapshot;
    const since = instantOf(whole.manifest.producedAt);
    const carried =
      changes === undefined ? [] : selectCarried.all(firstRow, firstRow + recordCount, rowCount, since);
    const left = Uint32Array.from(this.#left).sort();
    const staying = carried.map((row) => row - firstRow).filter((row) => !hasRow(left, row));
    let added = 0;
    const newRow = (row: Row) => newFirst + row - lowerBound(left, row) + added;
    for (const row of [...staying, Infinity]) {
      for (; added < this.#added.length && this.#added[added].before <= row; added++)
        putAdded.run(newRow(this.#added[added].before), this.#added[added].rowid);
      if (row !== Infinity) carry.run(newRow(row), firstRow + row);
    }
    return this.#totals.list(newFirst, staying.length + added);
  }
}

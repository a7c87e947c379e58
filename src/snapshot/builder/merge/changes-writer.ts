import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import { lowerBound } from '../../../store/index/row-sets.ts';
import type { Row } from '../../../store/memory/shared-arrays.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import { findPlace, placeOf } from '../../format/list-order.ts';
import { type DeclaredList, instantOf, NO_RECORDS } from '../../format/manifest.ts';
import { CHANGED_COLUMN, RECORD_COLUMN } from '../../format/schema.ts';
import type { PairList } from '../../load/pair-list.ts';
import type { EarlierRecord, EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import { ListTotals } from './list-totals.ts';

/**
 * Writes what has changed in the lists of a collection since the whole file of an earlier snapshot: records that are added
 * now, and earlier changes that stay. Rows in lists count from 0.
 */
export class ChangesWriter {
  readonly #layout: CollectionLayout;
  readonly #earlier: EarlierSnapshot;
  /** Time of the whole file. */
  readonly #since: Instant;
  readonly #insert: Database.Statement;
  readonly #insertAdded: Database.Statement;
  readonly #copyAdded: Database.Statement<[to: Row, number: number]>;
  readonly #selectCarried: Database.Statement<[from: Row, to: Row, since: Instant], Row>;
  readonly #carry: Database.Statement<[to: Row, from: Row]>;
  /** Ids by organization. */
  readonly #deleted = new Map<string, string[]>();
  #organizationId = '';
  #firstRow: Row = 1;
  #isMerged = false;
  #totals: ListTotals;
  #rowCount = 0;
  /** Number of records that were added to the lists before. */
  #addedBefore = 0;
  /** For each added record, the row of the earlier list before which it comes. */
  #added: Row[] = [];
  /** Rows of the earlier list. */
  #left: Row[] = [];
  #pair: PairList | undefined;
  /** The number of the records so far, and the row in the whole file of the last one that stays, of a list that is not merged. */
  #count = 0;
  #lastInWhole: Row = -1;

  /** @param earlier its file of changes, if there is one, is attached as `earlier` */
  constructor(database: Database.Database, layout: CollectionLayout, earlier: EarlierSnapshot) {
    const { name, idColumn, columns } = layout;
    this.#layout = layout;
    this.#earlier = earlier;
    this.#since = instantOf(earlier.snapshot.whole.manifest.producedAt);
    this.#totals = new ListTotals(layout);
    const values = [
      'organization_id',
      idColumn,
      ...columns.map(({ column }) => column),
      CHANGED_COLUMN,
      RECORD_COLUMN,
    ];
    const [listed, unknown] = [values.join(', '), values.map(() => '?').join(', ')];
    database.exec(`CREATE TEMP TABLE added_${name} AS SELECT ${listed} FROM ${name} LIMIT 0`);
    this.#insert = database.prepare(`INSERT INTO ${name} VALUES (?, ${unknown})`);
    this.#insertAdded = database.prepare(`INSERT INTO added_${name} VALUES (${unknown})`);
    this.#copyAdded = database.prepare(
      `INSERT INTO ${name} SELECT ?, ${listed} FROM added_${name} WHERE rowid = ?`,
    );
    const carried = database.prepare<[Row, Row, Instant], Row>(
      `SELECT row FROM earlier.${name} WHERE row >= ? AND row < ? AND ${CHANGED_COLUMN} > ? ORDER BY row`,
    );
    this.#selectCarried = carried.pluck();
    this.#carry = database.prepare(
      `INSERT INTO ${name} SELECT ?, ${listed} FROM earlier.${name} WHERE row = ?`,
    );
  }

  /** Notes an earlier record that is deleted. One that is replaced leaves when it is put. */
  leave(organizationId: string, id: string, isDeleted: boolean): void {
    if (!isDeleted) return;
    const ids = this.#deleted.get(organizationId);
    if (ids === undefined) this.#deleted.set(organizationId, [id]);
    else ids.push(id);
  }

  /**
   * Begins the list of an organization.
   * @param firstRow of the list in the table
   * @param isMerged whether it has the earlier records that do not leave
   */
  begin(organizationId: string, firstRow: Row, isMerged: boolean): readonly number[] {
    this.#organizationId = organizationId;
    this.#firstRow = firstRow;
    this.#isMerged = isMerged;
    this.#totals = new ListTotals(this.#layout, isMerged ? this.#earlierList : NO_RECORDS);
    this.#addedBefore += this.#added.length;
    [this.#added, this.#left, this.#pair] = [[], [], undefined];
    [this.#rowCount, this.#count, this.#lastInWhole] = [0, 0, -1];
    for (const id of this.#deleted.get(organizationId) ?? []) {
      const found = this.#earlier.find(this.#layout, organizationId, id);
      if (found !== undefined) this.#leave(found);
    }
    return [];
  }

  get #earlierList(): DeclaredList {
    return this.#earlier.organizations.get(this.#organizationId)?.lists[this.#layout.name] ?? NO_RECORDS;
  }

  #leave(found: EarlierRecord): void {
    this.#totals.remove(found);
    this.#left.push(this.#rowOf(found));
  }

  /** Returns the row in the earlier list. */
  #rowOf({ isChanged, row }: EarlierRecord): Row {
    const pair = this.#earlierPair();
    return isChanged ? row - pair.declared.firstRow : pair.rowOf(row - pair.whole.firstRow);
  }

  #earlierPair(): PairList {
    this.#pair ??= this.#earlier.pairOf(this.#layout, this.#organizationId);
    return this.#pair;
  }

  /** Writes the next record if it has changed since the whole file. */
  put(record: StagedRecord, changedAt: Instant, found?: EarlierRecord): readonly number[] {
    const isSame = changedAt === found?.changedAt;
    if (!this.#isMerged) this.#putNext(record, changedAt);
    else if (!isSame) {
      if (found !== undefined) this.#leave(found);
      this.#totals.add(record);
      this.#added.push(this.#placeOf(record, found));
      this.#insertAdded.run(this.#organizationId, record.id, ...record.values, changedAt, record.json);
    }
    return [];
  }

  /** Returns the row of the earlier list before which a record comes. */
  #placeOf({ json }: StagedRecord, found: EarlierRecord | undefined): Row {
    const last = this.#added.at(-1) ?? 0;
    const place = placeOf(this.#layout, json);
    const isInPlace = found !== undefined && placeOf(this.#layout, found.json).instant === place.instant;
    if (isInPlace) return Math.max(last, this.#rowOf(found));
    const pair = this.#earlierPair();
    const recordAt = (row: Row) => this.#earlier.recordAt(this.#layout, pair, row);
    return findPlace(this.#layout, place, last, pair.declared.recordCount, recordAt);
  }

  /** Writes the next record of a list that is staged as a whole. Those that stay have the order of the whole file. */
  #putNext(record: StagedRecord, changedAt: Instant): void {
    this.#totals.add(record);
    const row = this.#firstRow + this.#count++;
    const inWhole =
      changedAt <= this.#since
        ? this.#earlier.rowInWhole(this.#layout, this.#organizationId, record.id)
        : undefined;
    if (inWhole !== undefined && inWhole > this.#lastInWhole) {
      this.#lastInWhole = inWhole;
      return;
    }
    this.#insert.run(row, this.#organizationId, record.id, ...record.values, changedAt, record.json);
    this.#rowCount++;
  }

  /** Writes the rest of the list. Returns it without its digest. */
  end(): DeclaredList {
    if (this.#isMerged) this.#writeMerged();
    return this.#totals.list(this.#firstRow, this.#rowCount);
  }

  /** Writes earlier changes and added records, by their rows in the new list. */
  #writeMerged(): void {
    const { firstRow, recordCount } = this.#earlierList;
    const left = Uint32Array.from(this.#left).sort();
    const isLeft = new Set(this.#left);
    const carried = this.#earlier.snapshot.changes
      ? this.#selectCarried.all(firstRow, firstRow + recordCount, this.#since)
      : [];
    let added = 0;
    const newRow = (row: Row) => this.#firstRow + row - lowerBound(left, row) + added;
    for (const from of [...carried, Infinity]) {
      for (; this.#added[added] <= from - firstRow; added++)
        this.#copyAdded.run(newRow(this.#added[added]), this.#addedBefore + added + 1);
      if (from === Infinity || isLeft.has(from - firstRow)) continue;
      this.#carry.run(newRow(from - firstRow), from);
      this.#rowCount++;
    }
    this.#rowCount += this.#added.length;
  }

  finish(): readonly number[] {
    return [];
  }
}

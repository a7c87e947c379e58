import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import type { Row } from '../../../store/memory/shared-arrays.ts';
import { type CollectionLayout, SESSIONS } from '../../format/layout.ts';
import { type DeclaredList, instantOf } from '../../format/manifest.ts';
import type { EarlierRecord, EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import { ListTotals } from './list-totals.ts';

/**
 * Writes a list all of whose records are staged: all of them, or with an earlier snapshot those that its whole file lacks.
 */
export class StagedList {
  readonly #layout: CollectionLayout;
  readonly #earlier: EarlierSnapshot | undefined;
  /** Production time of the whole file. */
  readonly #wholeInstant: Instant;
  readonly #organizationId: string;
  /** In the table. */
  readonly #firstRow: Row;
  readonly #insert: Database.Statement;
  readonly #totals: ListTotals;
  #count = 0;
  #rowCount = 0;
  /** Row in the whole file of the last record that stays. */
  #lastInWhole: Row = -1;

  constructor(
    layout: CollectionLayout,
    insert: Database.Statement,
    organizationId: string,
    firstRow: Row,
    earlier: EarlierSnapshot | undefined,
  ) {
    this.#layout = layout;
    this.#earlier = earlier;
    this.#wholeInstant = earlier === undefined ? 0n : instantOf(earlier.snapshot.whole.manifest.producedAt);
    this.#organizationId = organizationId;
    this.#firstRow = firstRow;
    this.#insert = insert;
    this.#totals = new ListTotals(layout);
  }

  /** Puts the next record. */
  put(record: StagedRecord, changedAt: Instant, found?: EarlierRecord): void {
    this.#totals.add(record);
    const row = this.#firstRow + this.#count++;
    const inWhole = this.#rowInWhole(changedAt, found);
    // Records that stay have the order of the whole file: sessions may move with their event.
    if (inWhole > this.#lastInWhole) {
      this.#lastInWhole = inWhole;
      return;
    }
    this.#insert.run(row, this.#organizationId, record.id, ...record.values, changedAt, record.json);
    this.#rowCount++;
  }

  /** Returns the row of a record in the whole file; -1 if it has changed since, or is new. */
  #rowInWhole(changedAt: Instant, found?: EarlierRecord): Row {
    if (this.#earlier === undefined || found === undefined) return -1;
    if (changedAt > this.#wholeInstant) return -1;
    if (!found.isChanged) return found.row;
    const { whole, manifest } = this.#earlier.snapshot;
    // The whole file that is published may be one from before a session has moved, or after.
    const isTidied = whole.manifest.snapshotId === manifest.snapshotId;
    if (this.#layout === SESSIONS && !isTidied) return -1;
    return this.#earlier.rowInWhole(this.#layout, this.#organizationId, found.id) ?? -1;
  }

  /** Returns the list, without its digest. */
  end(): DeclaredList {
    return this.#totals.list(this.#firstRow, this.#rowCount);
  }
}

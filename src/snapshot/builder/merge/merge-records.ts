import type { CollectionLayout } from '../../format/layout.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import type { Comparison } from './comparison.ts';
import { type EarlierRun, isBefore, type Place, placeOf } from './earlier-run.ts';

/** Consecutive records of an earlier run that stay. None but the first begins a run. */
export interface Span {
  readonly run: EarlierRun;
  readonly from: number;
  readonly to: number;
}

/** Merges the staged records of a collection and those of a base that stay, by organization and in list order. */
export function* mergeRecords(
  layout: CollectionLayout,
  records: Generator<StagedRecord, undefined>,
  base: Iterable<EarlierRun>,
  comparison: Comparison,
): Generator<StagedRecord | Span> {
  using staged = new StagedRecords(layout, records);
  for (const run of base) {
    const leaving = comparison.compare(layout, run);
    let next = 0;
    for (const { record, row } of staged.takeBefore(run)) {
      yield* spansOf(run, next, row, leaving);
      yield record;
      next = row;
    }
    yield* spansOf(run, next, run.count, leaving);
  }
  yield* staged.takeAll();
}

function* spansOf(run: EarlierRun, from: number, to: number, leaving: ReadonlySet<number>): Generator<Span> {
  let first = from;
  for (let row = from; row < to; row++) {
    const isLeaving = leaving.has(row);
    if (!isLeaving && (row === first || !run.beginsRun(row))) continue;
    if (first < row) yield { run, from: first, to: row };
    first = isLeaving ? row + 1 : row;
  }
  if (first < to) yield { run, from: first, to };
}

/** The staged records of a collection, taken one after the other. */
class StagedRecords implements Disposable {
  readonly #layout: CollectionLayout;
  readonly #records: Generator<StagedRecord, undefined>;
  /** The first record that is not taken. */
  #next: StagedRecord | undefined;
  #place: Place | undefined;

  constructor(layout: CollectionLayout, records: Generator<StagedRecord, undefined>) {
    this.#layout = layout;
    this.#records = records;
    this.#next = records.next().value;
  }

  /** Takes the records before the last one of a run, each with the row of the run that it precedes. */
  *takeBefore(run: EarlierRun): Generator<{ readonly record: StagedRecord; readonly row: number }> {
    for (let record = this.#next; record !== undefined; record = this.#next) {
      if (record.organization > run.organization) return;
      let row = 0;
      if (record.organization === run.organization) {
        this.#place ??= placeOf(this.#layout, record.json);
        if (!isBefore(this.#layout, this.#place, run.placeAt(run.count - 1))) return;
        row = run.rowOf(this.#place);
      }
      this.#advance();
      yield { record, row };
    }
  }

  *takeAll(): Generator<StagedRecord> {
    for (let record = this.#next; record !== undefined; record = this.#next) {
      this.#advance();
      yield record;
    }
  }

  /** Ends the query, also before its last row. */
  [Symbol.dispose](): void {
    this.#records.return(undefined);
  }

  #advance(): void {
    this.#next = this.#records.next().value;
    this.#place = undefined;
  }
}

import type { CollectionLayout } from '../../format/layout.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import type { Comparison } from './comparison.ts';
import { type EarlierRun, isBefore, placeOf } from './earlier-run.ts';

/** Consecutive records of an earlier run that stay. None but the first begins a run. */
export interface Span {
  readonly run: EarlierRun;
  readonly from: number;
  readonly to: number;
}

/** Merges staged records with those of a base that stay. Both are by organization and in list order. */
export function* mergeRecords(
  layout: CollectionLayout,
  staged: Generator<StagedRecord, undefined>,
  base: Iterable<EarlierRun>,
  comparison: Comparison,
): Generator<StagedRecord | Span> {
  try {
    let next = staged.next().value;
    for (const run of base) {
      const leaving = comparison.compare(layout, run);
      const last = run.count - 1;
      let row = 0;
      while (next !== undefined && next.organization <= run.organization) {
        let until = 0;
        if (next.organization === run.organization) {
          const place = placeOf(layout, next.json);
          if (!isBefore(layout, place, run.placeAt(last))) break;
          until = run.rowOf(place);
        }
        yield* spansOf(run, row, until, leaving);
        yield next;
        row = until;
        next = staged.next().value;
      }
      yield* spansOf(run, row, run.count, leaving);
    }
    for (; next !== undefined; next = staged.next().value) yield next;
  } finally {
    // Ends the query, also before its last row.
    staged.return(undefined);
  }
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

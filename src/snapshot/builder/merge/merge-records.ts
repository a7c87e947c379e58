import type { CollectionLayout } from '../../format/layout.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import type { Comparison } from './comparison.ts';
import { type EarlierRun, isBefore, placeOf, type Span } from './earlier-run.ts';

/**
 * Merges staged records with those of a base that stay. Both are by organization and in list order, so a staged record
 * that did not change meets its earlier self, whose time it keeps.
 */
export function* mergeRecords(
  layout: CollectionLayout,
  staged: Generator<StagedRecord, undefined>,
  earlier: Iterable<EarlierRun>,
  comparison: Comparison,
): Generator<StagedRecord | Span> {
  const isMerged = comparison.isMerged(layout);
  try {
    let next = staged.next().value;
    for (const run of earlier) {
      const leaving = isMerged ? comparison.leaving(layout, run) : undefined;
      const same = new Set<number>();
      let row = 0;
      while (next !== undefined && next.organization <= run.organization) {
        const met = next.organization === run.organization ? meet(layout, run, next, row, isMerged) : { row };
        if (met === undefined) break;
        if (leaving !== undefined) yield* spansOf(run, row, met.row, leaving);
        if (met.isSame === true) same.add(met.row);
        yield met.isSame === true ? { ...next, changedAt: run.changedAt(met.row) } : next;
        row = met.isSame === undefined ? met.row : met.row + 1;
        next = staged.next().value;
      }
      if (leaving !== undefined) yield* spansOf(run, row, run.count, leaving);
      else for (let i = 0; i < run.count; i++) if (!same.has(i)) comparison.leaves(layout, run, i);
    }
    for (; next !== undefined; next = staged.next().value) yield next;
  } finally {
    // Ends the query, also before its last row.
    staged.return(undefined);
  }
}

/**
 * Returns the row of a run, from a row on, before which a record belongs; undefined when it follows the run. `isSame` is
 * whether the record of that row equals it; undefined if that has another id.
 */
function meet(
  layout: CollectionLayout,
  run: EarlierRun,
  { json }: StagedRecord,
  from: number,
  isMerged: boolean,
): { readonly row: number; readonly isSame?: boolean } | undefined {
  if (from < run.count) {
    // Mostly, the records of both are the same, and none has to be parsed.
    if (run.jsonAt(from) === json) return { row: from, isSame: true };
    if (!isMerged && run.hasIdOf(from, json)) return { row: from, isSame: false };
  }
  const place = placeOf(layout, json);
  if (isBefore(layout, run.placeAt(run.count - 1), place)) return undefined;
  const row = run.rowOf(place, from);
  return row < run.count && run.idAt(row) === place.id ? { row, isSame: run.jsonAt(row) === json } : { row };
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

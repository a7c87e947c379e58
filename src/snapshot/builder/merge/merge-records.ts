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
        const isOfOrganization = next.organization === run.organization;
        const until = isOfOrganization ? rowOf(layout, run, next, row, isMerged) : row;
        if (until === undefined) break;
        const isMet = isOfOrganization && until < run.count && run.hasIdOf(until, next.json);
        const isSame = isMet && run.holds(until, next.json);
        if (isSame) same.add(until);
        if (leaving !== undefined) yield* spansOf(run, row, until, leaving);
        yield isSame ? { ...next, changedAt: run.changedAt(until) } : next;
        row = isMet ? until + 1 : until;
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

/** Returns the row of a run before which, or in place of which, a record belongs; undefined when it follows the run. */
function rowOf(
  layout: CollectionLayout,
  run: EarlierRun,
  { json }: StagedRecord,
  from: number,
  isMerged: boolean,
): number | undefined {
  // Mostly, the records of both are the same, and none has to be parsed.
  if (from < run.count && (isMerged ? run.holds(from, json) : run.hasIdOf(from, json))) return from;
  const place = placeOf(layout, json);
  return isBefore(layout, run.placeAt(run.count - 1), place) ? undefined : run.rowOf(place, from);
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

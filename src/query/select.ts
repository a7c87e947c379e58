import { isRanked } from '../store/index/instant-index.ts';
import { postingList } from '../store/index/posting-index.ts';
import { type PostingsByInstant, rowsOfKeys } from '../store/index/postings-by-instant.ts';
import { rowSpan } from '../store/index/row-sets.ts';
import { type RowRanges, rowsAtPositions, rowsInRanges } from '../store/index/wavelet-matrix.ts';
import type { Int64s, Row, Uint32s } from '../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import type { Predicate } from './plan.ts';
import { type ResolvedQuery, resolve, textOf, windowRange } from './resolve.ts';
import { walk } from './scan.ts';
import { type Found, SelectionCache } from './selection-cache.ts';

/** The rows that a query selects, in list order: a run of consecutive ones, a list, or ranges of a matrix. */
export type Selection =
  | { readonly kind: 'span'; readonly from: Row; readonly to: Row }
  | { readonly kind: 'list'; readonly rows: Uint32s }
  | ({ readonly kind: 'ranges' } & RowRanges);

export function totalOf(selection: Selection): number {
  if (selection.kind === 'span') return selection.to - selection.from;
  return selection.kind === 'list' ? selection.rows.length : rowsInRanges(selection);
}

/** The rows at the positions `start … end` of a selection. */
export function rowsAt(selection: Selection, start: number, end: number): Uint32s {
  if (selection.kind === 'ranges') return rowsAtPositions(selection, start, end);
  if (selection.kind === 'list') return selection.rows.subarray(start, end);
  return rowSpan(selection.from + start, selection.from + end);
}

const NONE: Selection = { kind: 'span', from: 0, to: 0 };
const NO_ROWS: Uint32s = new Uint32Array(0);

/** What a thread remembers of what was found, for all organizations together. */
const CACHE_BYTES = 8 * 1024 * 1024;
const recentSelections = new SelectionCache(CACHE_BYTES);

/**
 * The rows of a collection that pass every predicate. One key or one window is looked up. Several keys, and a key and a
 * window, are ranges of the matrix of an index that has one; all else is walked.
 */
export function select(
  collection: CollectionImage,
  where: readonly Predicate[],
  cache: SelectionCache = recentSelections,
): Selection {
  const question = resolve(collection, where);
  if (question === undefined) return NONE;
  const { keySets, windows } = question;
  if (keySets.length === 0 && windows.length === 0) return { kind: 'span', from: 0, to: collection.count };
  if (keySets.length === 0 && windows.length === 1) {
    const [{ instants, low, high }] = windows;
    if (isRanked(instants)) {
      return { kind: 'ranges', matrix: instants.matrix, ranges: Uint32Array.of(low, high), others: NO_ROWS };
    }
  }
  if (keySets.length === 1 && keySets[0].keys.length === 1 && windows.length === 0) {
    return { kind: 'list', rows: postingList(keySets[0].postings, keySets[0].keys[0]) };
  }
  const lists = listsFor(question);
  const find = (): Found =>
    lists === undefined
      ? { ranges: NO_ROWS, others: walk(question, collection.count) }
      : rangesOf(collection, question, lists);
  // The ranges of one key take less time to find than to remember.
  const isQuick = lists !== undefined && keySets[0].keys.length === 1;
  const { ranges, others } = isQuick ? find() : cache.answer(collection, textOf(question), find);
  if (lists === undefined || ranges.length === 0) return { kind: 'list', rows: others };
  return { kind: 'ranges', matrix: lists.matrix, ranges, others };
}

/** The lists of the one key set, if they are in the order of what the windows are of. */
function listsFor({ keySets, windows }: ResolvedQuery): PostingsByInstant | undefined {
  if (keySets.length !== 1 || windows.length > 1) return undefined;
  const { byInstant } = keySets[0].postings;
  return windows.every(({ index }) => index === byInstant?.instant) ? byInstant : undefined;
}

function rangesOf(
  { instants, count }: CollectionImage,
  { keySets: [{ keys }], windows }: ResolvedQuery,
  lists: PostingsByInstant,
): Found {
  const { low, high } = windows.at(0) ?? { low: 0, high: count };
  return rowsOfKeys(lists, keys, instants[lists.instant].rows, low, high);
}

/** The rows of a run whose instants, ascending in it, pass every window. */
export function selectInSpan(instants: Int64s, from: Row, to: Row, where: readonly Predicate[]): Selection {
  for (const predicate of where) {
    if (predicate.match === 'window') [from, to] = windowRange(instants, predicate, from, to);
  }
  return { kind: 'span', from, to };
}

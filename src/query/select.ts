import { isRanked } from '../store/index/instant-index.ts';
import { postingList } from '../store/index/posting-index.ts';
import { type PostingsByInstant, rowsOfKeys } from '../store/index/postings-by-instant.ts';
import { intersection, NO_ROWS, rowSet, rowSpan, totalLength, union } from '../store/index/row-sets.ts';
import { type RowRanges, rowsAtPositions, rowsInRanges } from '../store/index/wavelet-matrix.ts';
import { MEGABYTE, type Int64s, type Row, type Uint32s } from '../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import type { Predicate } from './plan.ts';
import { cacheKeyOf, type KeySet, type ResolvedQuery, resolve, type Window, windowRange } from './resolve.ts';
import { SelectionCache } from './selection-cache.ts';

/** The rows of a query, in list order: consecutive rows, a list of rows, or ranges of a wavelet matrix. */
export type Selection =
  | { readonly kind: 'span'; readonly from: Row; readonly to: Row }
  | { readonly kind: 'list'; readonly rows: Uint32s }
  | ({ readonly kind: 'ranges' } & RowRanges);

export function totalOf(selection: Selection): number {
  if (selection.kind === 'span') return selection.to - selection.from;
  return selection.kind === 'list' ? selection.rows.length : rowsInRanges(selection);
}

/** Returns the rows at the positions `start … end` of a selection. */
export function rowsAt(selection: Selection, start: number, end: number): Uint32s {
  if (selection.kind === 'ranges') return rowsAtPositions(selection, start, end);
  if (selection.kind === 'list') return selection.rows.subarray(start, end);
  return rowSpan(selection.from + start, selection.from + end);
}

/** Rows that are looked up at once. */
const BLOCK_ROWS = 1024;

/** Yields the rows of a selection in blocks. */
export function* blocksOf(selection: Selection): Generator<Uint32s> {
  const total = totalOf(selection);
  for (let start = 0; start < total; start += BLOCK_ROWS)
    yield rowsAt(selection, start, Math.min(start + BLOCK_ROWS, total));
}

/** Bound of the selection cache of a thread, over all organizations. */
const CACHE_BYTES = 8 * MEGABYTE;
const selectionCache = new SelectionCache(CACHE_BYTES);

/**
 * Selects the rows of a collection that pass every predicate. No predicate, one key or one window is a look-up. One
 * key set with at most one window is read from the posting lists by instant, if the index has them. Other queries are
 * scanned.
 */
export function select(
  collection: CollectionImage,
  where: readonly Predicate[],
  cache: SelectionCache = selectionCache,
): Selection {
  const query = resolve(collection, where);
  const { keySets, windows } = query;
  if (keySets.length === 0 && windows.length === 0) return { kind: 'span', from: 0, to: collection.count };
  if (keySets.length === 0 && windows.length === 1) {
    const [{ instants, low, high }] = windows;
    if (isRanked(instants)) {
      return { kind: 'ranges', matrix: instants.matrix, ranges: Uint32Array.of(low, high), listed: NO_ROWS };
    }
  }
  const isOneKey = keySets.length === 1 && keySets[0].keys.length === 1;
  if (isOneKey && windows.length === 0) {
    return { kind: 'list', rows: postingList(keySets[0].postings, keySets[0].keys[0]) };
  }
  const postings = postingsByInstantFor(query);
  const find = () => {
    if (postings === undefined) return { ranges: NO_ROWS, listed: scan(query, collection.count) };
    const { low, high } = windows.at(0) ?? { low: 0, high: collection.count };
    const { rows } = collection.instants[postings.instant];
    return rowsOfKeys(postings, keySets[0].keys, rows, low, high);
  };
  // The ranges of one key are not cached: with the cache, throughput is 0.93 times (docs/performance.md).
  const isQuick = isOneKey && postings !== undefined;
  const { ranges, listed } = isQuick ? find() : cache.get(collection, cacheKeyOf(query), find);
  return postings === undefined
    ? { kind: 'list', rows: listed }
    : { kind: 'ranges', matrix: postings.matrix, ranges, listed };
}

/**
 * Returns the posting lists by instant that can serve a query.
 * The query must have one key set, and windows over their instant only.
 */
function postingsByInstantFor({ keySets, windows }: ResolvedQuery): PostingsByInstant | undefined {
  if (keySets.length !== 1 || windows.length > 1) return undefined;
  const { byInstant } = keySets[0].postings;
  return windows.every(({ index }) => index === byInstant?.instant) ? byInstant : undefined;
}

/** Returns the rows of a query. Reads the smallest set, and intersects it with the others. */
function scan({ keySets, windows }: ResolvedQuery, rowCount: number): Uint32s {
  const sets = [
    ...keySets.map((set) => scannedKeys(set, rowCount)),
    ...windows.map((window) => scannedWindow(window, rowCount)),
  ].sort((a, b) => a.size - b.size);
  const [smallest, ...larger] = sets;
  return larger.reduce((rows, { intersect }) => intersect(rows), smallest.rows());
}

function scannedKeys({ postings, keys }: KeySet, rowCount: number) {
  const lists = keys.map((key) => postingList(postings, key));
  return {
    size: totalLength(lists),
    rows: () => union(lists, rowCount),
    intersect: (rows: Uint32s) =>
      union(
        lists.map((list) => intersection(rows, list)),
        rowCount,
      ),
  };
}

function scannedWindow({ instants, low, high }: Window, rowCount: number) {
  const all = () => rowSet(instants.rows.subarray(low, high), rowCount);
  const ranks = isRanked(instants) ? instants.ranks : undefined;
  const intersect = (rows: Uint32s) =>
    ranks ? rows.filter((row) => ranks[row] >= low && ranks[row] < high) : intersection(rows, all());
  return { size: high - low, rows: all, intersect };
}

/**
 * Selects the rows `from … to` that pass every window. Their instants ascend.
 * @param index of the instants
 * @throws TypeError for a predicate of another kind or index
 */
export function selectInSpan(
  instants: Int64s,
  index: string,
  from: Row,
  to: Row,
  where: readonly Predicate[],
): Selection {
  for (const predicate of where) {
    if (predicate.match !== 'window' || predicate.index !== index)
      throw new TypeError(
        `a span has windows of ${index} alone, not ${predicate.match} of ${predicate.index}`,
      );
    [from, to] = windowRange(instants, predicate, from, to);
  }
  return { kind: 'span', from, to };
}

import { isRanked } from '../store/index/instant-index.ts';
import { postingList } from '../store/index/posting-index.ts';
import { intersection, intersectionWithAny, rowSet, totalLength, union } from '../store/index/row-sets.ts';
import type { Uint32s } from '../store/memory/shared-arrays.ts';
import type { KeySet, ResolvedQuery, Window } from './resolve.ts';

/** A set of rows that can be walked, or held against rows that were found elsewhere. */
interface ScannedSet {
  /** How many rows there are to walk, counting some more than once. */
  readonly size: number;
  readonly rows: () => Uint32s;
  readonly among: (rows: Uint32s) => Uint32s;
}

/** The rows that answer a question about a collection of `rowCount` rows: the smallest set, held against the others. */
export function walk({ keySets, windows }: ResolvedQuery, rowCount: number): Uint32s {
  const sets = [
    ...keySets.map((set) => scannedKeys(set, rowCount)),
    ...windows.map((window) => scannedWindow(window, rowCount)),
  ].sort((a, b) => a.size - b.size);
  const [smallest, ...others] = sets;
  return others.reduce((rows, { among }) => among(rows), smallest.rows());
}

function scannedKeys({ postings, keys }: KeySet, rowCount: number): ScannedSet {
  const lists = keys.map((key) => postingList(postings, key));
  return {
    size: totalLength(lists),
    rows: () => union(lists, rowCount),
    among: (rows) => intersectionWithAny(rows, lists, rowCount),
  };
}

function scannedWindow({ instants, low, high }: Window, rowCount: number): ScannedSet {
  const rowsInWindow = () => rowSet(instants.rows.subarray(low, high), rowCount);
  if (!isRanked(instants)) {
    return { size: high - low, rows: rowsInWindow, among: (rows) => intersection(rows, rowsInWindow()) };
  }
  const { ranks } = instants;
  return {
    size: high - low,
    rows: rowsInWindow,
    among: (rows) => rows.filter((row) => ranks[row] >= low && ranks[row] < high),
  };
}

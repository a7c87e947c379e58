import { isRanked } from '../store/index/instant-index.ts';
import { postingList } from '../store/index/posting-index.ts';
import { intersection, rowSet, totalLength, union } from '../store/index/row-sets.ts';
import type { Uint32s } from '../store/memory/shared-arrays.ts';
import type { KeySet, ResolvedQuery, Window } from './resolve.ts';

/** A set of rows that a scan reads, or intersects with the rows of another set. */
interface ScannedSet {
  /** Rows to read, repeated ones included. */
  readonly size: number;
  readonly rows: () => Uint32s;
  readonly intersect: (rows: Uint32s) => Uint32s;
}

/** Returns the rows of a query. Reads the smallest set, and intersects it with the others. */
export function scan({ keySets, windows }: ResolvedQuery, rowCount: number): Uint32s {
  const sets = [
    ...keySets.map((set) => scannedKeys(set, rowCount)),
    ...windows.map((window) => scannedWindow(window, rowCount)),
  ].sort((a, b) => a.size - b.size);
  const [smallest, ...others] = sets;
  return others.reduce((rows, { intersect }) => intersect(rows), smallest.rows());
}

function scannedKeys({ postings, keys }: KeySet, rowCount: number): ScannedSet {
  const lists = keys.map((key) => postingList(postings, key));
  return {
    size: totalLength(lists),
    rows: () => union(lists, rowCount),
    intersect: (rows) =>
      union(
        lists.map((list) => intersection(rows, list)),
        rowCount,
      ),
  };
}

function scannedWindow({ instants, low, high }: Window, rowCount: number): ScannedSet {
  const size = high - low;
  const rowsInWindow = () => rowSet(instants.rows.subarray(low, high), rowCount);
  if (!isRanked(instants)) {
    return { size, rows: rowsInWindow, intersect: (rows) => intersection(rows, rowsInWindow()) };
  }
  const { ranks } = instants;
  return {
    size,
    rows: rowsInWindow,
    intersect: (rows) => rows.filter((row) => ranks[row] >= low && ranks[row] < high),
  };
}

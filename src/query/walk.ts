import { isRanked } from '../store/instant-index.ts';
import { postingList } from '../store/posting-index.ts';
import { intersection, intersectionWithAny, rowSet, totalLength, union } from '../store/row-sets.ts';
import type { Uint32s } from '../store/shared.ts';
import type { KeySet, Question, Window } from './question.ts';

/** A set of rows that can be walked, or held against rows that were found elsewhere. */
interface WalkableSet {
  /** How many rows there are to walk, counting some more than once. */
  readonly size: number;
  readonly rows: () => Uint32s;
  readonly among: (rows: Uint32s) => Uint32s;
}

/** The rows that answer a question about a collection of `rowCount` rows: the smallest set, held against the others. */
export function walk({ keySets, windows }: Question, rowCount: number): Uint32s {
  const sets = [
    ...keySets.map((set) => walkableKeys(set, rowCount)),
    ...windows.map((window) => walkableWindow(window, rowCount)),
  ].sort((a, b) => a.size - b.size);
  const [smallest, ...others] = sets;
  return others.reduce((rows, { among }) => among(rows), smallest.rows());
}

function walkableKeys({ postings, keys }: KeySet, rowCount: number): WalkableSet {
  const lists = keys.map((key) => postingList(postings, key));
  return {
    size: totalLength(lists),
    rows: () => union(lists, rowCount),
    among: (rows) => intersectionWithAny(rows, lists, rowCount),
  };
}

function walkableWindow({ instants, low, high }: Window, rowCount: number): WalkableSet {
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

import { lowerBound } from '../store/instant-order.ts';
import type { InstantImage } from '../store/instant-index.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import { postingList } from '../store/posting-index.ts';
import type { Int64s, Row, Uint32s } from '../store/shared.ts';
import type { Predicate } from './plan.ts';
import { intersection, rowSet, union } from './row-sets.ts';

/** The rows that a query selects, ascending: a run of consecutive ones, or a list. */
export type Selection =
  | { readonly kind: 'run'; readonly from: Row; readonly to: Row }
  | { readonly kind: 'list'; readonly rows: Uint32s };

export function totalOf(selection: Selection): number {
  return selection.kind === 'run' ? selection.to - selection.from : selection.rows.length;
}

/** The rows of a collection that pass every predicate. */
export function select(collection: CollectionImage, where: readonly Predicate[]): Selection {
  const lists = where
    .filter((predicate) => predicate.match === 'anyOf')
    .map(({ index, keys }) => {
      const image = collection.postings[index];
      return union(keys.map((key) => postingList(image, key)));
    });
  lists.sort((a, b) => a.length - b.length);
  let rows = lists.length === 0 ? undefined : lists.reduce(intersection);

  for (const predicate of where) {
    if (predicate.match !== 'window') continue;
    const index = collection.instants[predicate.index];
    const [low, high] = windowRange(index.sorted, predicate);
    const { ranks } = index;
    if (rows !== undefined && ranks !== undefined) {
      rows = rows.filter((row) => ranks[row] >= low && ranks[row] < high);
    } else {
      const inWindow = rowsInRange(index, low, high);
      rows = rows === undefined ? inWindow : intersection(rows, inWindow);
    }
  }
  return rows === undefined ? { kind: 'run', from: 0, to: collection.count } : { kind: 'list', rows };
}

/** To sort a range of ranks costs some twenty times as much for each row as to pass by one. */
const SORT_COST = 20;

/** The rows at a range of ranks, ascending: sorted, or picked out of all rows when the range is wide. */
function rowsInRange({ rows, ranks }: InstantImage, low: number, high: number): Uint32s {
  if (ranks === undefined || (high - low) * SORT_COST < rows.length) return rowSet(rows.slice(low, high));
  const picked = new Uint32Array(high - low);
  let count = 0;
  for (let row = 0; row < ranks.length; row++)
    if (ranks[row] >= low && ranks[row] < high) picked[count++] = row;
  return picked;
}

/** The rows of a run whose instants, ascending in it, pass every window. */
export function selectInRun(instants: Int64s, from: Row, to: Row, where: readonly Predicate[]): Selection {
  for (const predicate of where) {
    if (predicate.match === 'window') [from, to] = windowRange(instants, predicate, from, to);
  }
  return { kind: 'run', from, to };
}

/** The range of ascending instants that lie in a window; empty when its bounds cross. */
function windowRange(
  sorted: Int64s,
  { from, until }: Predicate & { match: 'window' },
  start = 0,
  end = sorted.length,
): [low: number, high: number] {
  const low = from === undefined ? start : lowerBound(sorted, from, start, end);
  const high = until === undefined ? end : lowerBound(sorted, until, start, end);
  return [low, Math.max(low, high)];
}

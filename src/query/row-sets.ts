import type { Uint32s } from '../store/shared.ts';

/** Sets of rows as ascending lists. */

/** The rows of any of the lists, once each. */
export function union(lists: readonly Uint32s[]): Uint32s {
  if (lists.length === 1) return lists[0];
  const all = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return rowSet(all);
}

/** The rows of both lists. It walks the shorter one and gallops through the longer. */
export function intersection(a: Uint32s, b: Uint32s): Uint32s {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const both = new Uint32Array(short.length);
  let count = 0;
  let from = 0;
  for (const row of short) {
    let step = 1;
    let to = from;
    while (to < long.length && long[to] < row) {
      from = to + 1;
      to += step;
      step *= 2;
    }
    to = Math.min(to, long.length);
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (long[middle] < row) from = middle + 1;
      else to = middle;
    }
    if (from === long.length) break;
    if (long[from] === row) both[count++] = row;
  }
  return both.subarray(0, count);
}

/** The set of rows in any order, repeated or not; sorts them in place. */
export function rowSet(rows: Uint32s): Uint32s {
  rows.sort();
  const repeats = rows.some((row, i) => i > 0 && row === rows[i - 1]);
  return repeats ? rows.filter((row, i) => i === 0 || row !== rows[i - 1]) : rows;
}

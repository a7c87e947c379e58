import { type Int64s, type Row, sharedUint32s, type Uint32s } from '../memory/shared-arrays.ts';

/** Sets of rows as ascending lists. */

export const NO_ROWS: Uint32s = new Uint32Array(0);

/** Returns whether ascending rows have a row. */
export function hasRow(rows: Uint32s, row: Row): boolean {
  return rows[lowerBound(rows, row)] === row;
}

export function rowSpan(from: Row, to: Row): Uint32s {
  const rows = new Uint32Array(to - from);
  for (let i = 0; i < rows.length; i++) rows[i] = from + i;
  return rows;
}

/** Returns the rows of all lists, each once. They are below `rowCount`. */
export function union(lists: readonly Uint32s[], rowCount: number): Uint32s {
  if (lists.length === 1) return lists[0];
  const rows = new Uint32Array(totalLength(lists));
  let at = 0;
  for (const list of lists) {
    rows.set(list, at);
    at += list.length;
  }
  return rowSet(rows, rowCount);
}

/** Cost of sorting a row, relative to reading a word of a bitmap. */
const SORTING_COST = 16;
const WORD_BITS = 32;

/** Returns rows in ascending order, each once. They are below `rowCount`. */
export function rowSet(rows: Uint32s, rowCount: number): Uint32s {
  if (rows.length * SORTING_COST > rowCount / WORD_BITS) return rowsByBitmap(rows, rowCount);
  const sorted = rows.slice().sort();
  let count = 0;
  for (const row of sorted) if (count === 0 || row !== sorted[count - 1]) sorted[count++] = row;
  return sorted.subarray(0, count);
}

/** Sorts rows by a bitmap of all rows, which also drops repeated ones. */
function rowsByBitmap(rows: Uint32s, rowCount: number): Uint32s {
  const words = new Uint32Array(Math.ceil(rowCount / WORD_BITS));
  for (const row of rows) words[row >>> 5] |= 1 << (row & 31);
  const set = new Uint32Array(rows.length);
  let count = 0;
  for (let i = 0; i < words.length; i++) {
    for (let bits = words[i]; bits !== 0; bits &= bits - 1) {
      set[count++] = i * WORD_BITS + 31 - Math.clz32(bits & -bits);
    }
  }
  return set.subarray(0, count);
}

/** Returns the rows that both lists have. Reads the shorter list, and gallops through the longer one. */
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
    from = lowerBound(long, row, from, Math.min(to, long.length));
    if (from === long.length) break;
    if (long[from] === row) both[count++] = row;
  }
  return both.subarray(0, count);
}

export function totalLength(lists: readonly Uint32s[]): number {
  return lists.reduce((total, { length }) => total + length, 0);
}

/**
 * Returns the first position whose value is not below a bound. The values ascend.
 * Instants have a separate function: one comparison of both numbers and bigints would be a generic one.
 */
export function lowerBound(values: Uint32s, bound: number, from = 0, to = values.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function lowerInstantBound(instants: Int64s, bound: bigint, from = 0, to = instants.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (instants[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Fills zeroed `starts`: in ascending order, the values v are at the positions starts[v] … starts[v + 1]. */
export function countStarts(values: Uint32s, starts: Uint32s): Uint32s {
  for (const value of values) starts[value + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  return starts;
}

/** Groups values by key, in shared memory and in their order: those of key k are values[starts[k] … starts[k + 1]]. */
export function valuesByKey(keyOf: Uint32s, valueOf: Uint32s, keyCount: number) {
  const starts = countStarts(keyOf, sharedUint32s(keyCount + 1));
  const next = starts.slice();
  const values = sharedUint32s(keyOf.length);
  for (let i = 0; i < keyOf.length; i++) values[next[keyOf[i]]++] = valueOf[i];
  return { starts, values };
}

/** Counts the 1s of 32 bits, by pairs, nibbles and bytes (Warren, "Hacker's Delight", 5-1). */
export function countOnes(bits: number): number {
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

import type { Int64s, Row, Uint32s } from '../memory/shared-arrays.ts';

/** Sets of rows as ascending lists. */

/** A row costs this many times as much to put in its place by comparing as a word of a bitmap costs to look at. */
const COMPARING_COST = 16;

/** The rows `from … to`. By a loop: `Uint32Array.from` calls a function for each. */
export function rowSpan(from: Row, to: Row): Uint32s {
  const rows = new Uint32Array(to - from);
  for (let i = 0; i < rows.length; i++) rows[i] = from + i;
  return rows;
}

/** The rows of any of the lists, once each. `rowCount`: all rows are below it. */
export function union(lists: readonly Uint32s[], rowCount: number): Uint32s {
  if (lists.length === 0) return new Uint32Array(0);
  if (lists.length === 1) return lists[0];
  if (isDense(totalLength(lists), rowCount)) return Bitmap.of(lists, rowCount).rows();
  const middle = lists.length >>> 1;
  return merged(union(lists.slice(0, middle), rowCount), union(lists.slice(middle), rowCount));
}

/** The set of rows in any order, repeated or not. `rowCount`: all rows are below it. */
export function rowSet(rows: Uint32s, rowCount: number): Uint32s {
  if (isDense(rows.length, rowCount)) return Bitmap.of([rows], rowCount).rows();
  const sorted = rows.slice().sort();
  let count = 0;
  for (const row of sorted) if (count === 0 || row !== sorted[count - 1]) sorted[count++] = row;
  return sorted.subarray(0, count);
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

/** A row costs this many times as much to be found by galloping as to be passed by in a union. */
const GALLOP_COST = 16;

/** The rows that any of the lists has as well. */
export function intersectionWithAny(rows: Uint32s, lists: readonly Uint32s[], rowCount: number): Uint32s {
  const gallops = rows.length * lists.length * GALLOP_COST;
  if (gallops > totalLength(lists)) return intersection(rows, union(lists, rowCount));
  return union(
    lists.map((list) => intersection(rows, list)),
    rowCount,
  );
}

export function totalLength(lists: readonly Uint32s[]): number {
  return lists.reduce((total, { length }) => total + length, 0);
}

/** Whether a bitmap of all rows is the cheaper way to so many of them. */
function isDense(count: number, rowCount: number): boolean {
  return count * COMPARING_COST > rowCount / 32;
}

function merged(a: Uint32s, b: Uint32s): Uint32s {
  const rows = new Uint32Array(a.length + b.length);
  let count = 0;
  let j = 0;
  for (const row of a) {
    while (j < b.length && b[j] < row) rows[count++] = b[j++];
    if (j < b.length && b[j] === row) j++;
    rows[count++] = row;
  }
  rows.set(b.subarray(j), count);
  return rows.subarray(0, count + b.length - j);
}

/** A bit for each row. */
class Bitmap {
  readonly #words: Uint32s;

  static of(lists: readonly Uint32s[], rowCount: number): Bitmap {
    const bitmap = new Bitmap(rowCount);
    for (const list of lists) bitmap.#add(list);
    return bitmap;
  }

  private constructor(rowCount: number) {
    this.#words = new Uint32Array(Math.ceil(rowCount / 32));
  }

  #add(rows: Uint32s): void {
    const words = this.#words;
    for (const row of rows) words[row >>> 5] |= 1 << (row & 31);
  }

  /** The rows whose bit is set, ascending. */
  rows(): Uint32s {
    const words = this.#words;
    let count = 0;
    for (const bits of words) count += countOnes(bits);
    const rows: Uint32s = new Uint32Array(count);
    let at = 0;
    for (let i = 0; i < words.length; i++) {
      const base: Row = i * 32;
      for (let bits = words[i]; bits !== 0; bits &= bits - 1)
        rows[at++] = base + 31 - Math.clz32(bits & -bits);
    }
    return rows;
  }
}

/**
 * Where a value would stand among ascending ones: in front of those that are not below it. There are two of the same,
 * since one that met numbers and bigints would be several times as slow with either.
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

/** How many of 32 bits are 1: added up in pairs, nibbles and bytes (Warren, "Hacker's Delight", 5-1). */
export function countOnes(bits: number): number {
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

import { type Bytes, type Row, sharedBytes, sharedUint32s, type Uint32s } from '../memory/shared-arrays.ts';
import { countOnes, lowerBound } from './row-sets.ts';

/**
 * A sequence of rows whose ranges can be read in ascending order, from any position on. A read takes no step for each
 * row before that position. The structure is a wavelet matrix over the upper bits of the rows (Claude, Navarro and
 * Ordóñez, "The wavelet matrix", Information Systems 47, 2015). Their lowest bytes are stored unchanged.
 *
 * Level 0 holds the highest bit of every row, in the order of the sequence. Each further level holds the next bit.
 * Its order is that of the level before, but the rows with a 0 there precede those with a 1. So a range of a level
 * becomes two ranges of the next. Their bounds are the numbers of 0s and 1s before those of the range. The rows of a
 * range below the last level differ only in their lowest byte.
 *
 *     words   zeros₀ zeros₁ …                number of rows with a 0, for each level
 *             ones bits  ones bits  …        level 0: for every 32 rows the 1s ahead of them, then their bits
 *             ones bits  ones bits  …        level 1
 *             …
 *     lows    the lowest byte of every row, in the order below the last level
 */
export interface WaveletMatrixImage {
  readonly length: number;
  readonly levels: number;
  readonly words: Uint32s;
  readonly lows: Bytes;
}

const LOW_BITS = 8;
const LOW_VALUES = 2 ** LOW_BITS;

/** Rows in a block: the bits of a word. */
const BLOCK = 32;
const BLOCK_WORDS = 2;

/** Returns the number of words of a level. One more block than are full makes the end of the sequence a valid position. */
const levelWords = (length: number): number => (Math.floor(length / BLOCK) + 1) * BLOCK_WORDS;

const levelsOf = (rowCount: number): number =>
  rowCount <= LOW_VALUES ? 0 : 32 - Math.clz32(rowCount - 1) - LOW_BITS;

/** Builds a wavelet matrix. Overwrites `sequence`: rows below `rowCount`, which may repeat. */
export function buildWaveletMatrix(sequence: Uint32s, rowCount: number): WaveletMatrixImage {
  const { length } = sequence;
  const levels = levelsOf(rowCount);
  const words = sharedUint32s(levels * (1 + levelWords(length)));
  let current = sequence;
  let next: Uint32s = new Uint32Array(length);
  /** Number of rows with a 1, counted for a level while the level before it is built. */
  let ones = 0;
  for (const row of sequence) ones += row >>> (levels - 1 + LOW_BITS);
  for (let level = 0; level < levels; level++) {
    const shift = levels - 1 - level + LOW_BITS;
    const zeros = length - ones;
    words[level] = zeros;
    ones = 0;
    let at = levels + level * levelWords(length);
    let oneCount = 0;
    for (let block = 0; block <= length; block += BLOCK) {
      const end = Math.min(block + BLOCK, length);
      words[at++] = oneCount;
      let bits = 0;
      for (let i = block; i < end; i++) {
        const row = current[i];
        const bit = (row >>> shift) & 1;
        ones += (row >>> (shift - 1)) & 1;
        bits |= bit << (i - block);
        // Position among the 0s, or among the 1s after them: without a branch on a random bit.
        const zeroAt = i - oneCount;
        next[zeroAt + (-bit & (zeros + oneCount - zeroAt))] = row;
        oneCount += bit;
      }
      words[at++] = bits;
    }
    [current, next] = [next, current];
  }
  const lows = sharedBytes(length);
  for (let i = 0; i < length; i++) lows[i] = current[i];
  return { length, levels, words, lows };
}

/** Rows to read in ascending order: those at ranges of a sequence, and listed. */
export interface RowRanges {
  readonly matrix: WaveletMatrixImage;
  /** Start and end of each range, in turn. Ranges do not overlap. */
  readonly ranges: Uint32s;
  /** Ascending. */
  readonly listed: Uint32s;
}

/** Counts the rows, repeated ones included. */
export function rowsInRanges({ ranges, listed }: RowRanges): number {
  return listed.length + lengthOfRanges(ranges);
}

/** Returns the total length of ranges, given as start and end in turn. */
export function lengthOfRanges(ranges: ArrayLike<number>): number {
  let length = 0;
  for (let i = 0; i < ranges.length; i += 2) length += ranges[i + 1] - ranges[i];
  return length;
}

/** Scratch space of a descent: occurrences of each lowest byte. All 0 between two uses. */
const countsOfLows = new Uint32Array(LOW_VALUES);

/**
 * Greatest number of rows that are sorted by insertion instead of counted. Without this path and the two scratch
 * arrays, throughput for pages of a new window falls to 70 %.
 */
const FEW_LOWS = 24;
/** Scratch space of a descent: the lowest bytes of few rows, ascending. */
const fewLows = new Uint8Array(FEW_LOWS);
/** Scratch space of a descent: the ranges of a window, or of a few keys. */
const fewRanges = new Uint32Array(1024);

/**
 * Returns the rows at the positions `start … end` of their ascending order.
 * Descends the levels with all ranges at once, and only where rows are wanted.
 */
export function rowsAtPositions({ matrix, ranges, listed }: RowRanges, start: number, end: number): Uint32s {
  const { levels, words, lows, length } = matrix;
  const rows = new Uint32Array(end - start);
  let count = 0;
  /** Rows to pass over before the first one wanted. */
  let skip = start;
  /** The ranges on the path of the descent, those of each level after those of the level above. */
  const size = ranges.length * (1 + 2 * levels);
  const path = size <= fewRanges.length ? fewRanges : new Uint32Array(size);
  path.set(ranges);
  visit(0, 0, ranges.length, 0, 0, listed.length);
  return rows;

  /**
   * Takes the wanted rows that begin with the bits of `row` down to `level`: those at the ranges `path[from … to]`, and
   * `listed[first … last]`.
   */
  function visit(level: number, from: number, to: number, row: Row, first: number, last: number): void {
    if (from === to) {
      takeListed(first, last);
      return;
    }
    if (level === levels) {
      takeByLows(from, to, row, first, last);
      return;
    }
    const base = levels + level * levelWords(length);
    const zeros = words[level];
    // The ranges of the 1s precede those of the 0s, which are visited first and need the space after them.
    const oneStart = to;
    let oneEnd = oneStart;
    const zeroStart = to + (to - from);
    let zeroEnd = zeroStart;
    let zeroCount = 0;
    let oneCount = 0;
    for (let i = from; i < to; i += 2) {
      const oneFrom = onesBefore(words, base, path[i]);
      const oneTo = onesBefore(words, base, path[i + 1]);
      const zeroFrom = path[i] - oneFrom;
      const zeroTo = path[i + 1] - oneTo;
      if (zeroTo > zeroFrom) {
        path[zeroEnd++] = zeroFrom;
        path[zeroEnd++] = zeroTo;
        zeroCount += zeroTo - zeroFrom;
      }
      if (oneTo > oneFrom) {
        path[oneEnd++] = zeros + oneFrom;
        path[oneEnd++] = zeros + oneTo;
        oneCount += oneTo - oneFrom;
      }
    }
    const rowOfOnes = row + 2 ** (levels - 1 - level + LOW_BITS);
    const middle = first === last ? last : lowerBound(listed, rowOfOnes, first, last);
    if (isWanted(zeroCount + middle - first)) visit(level + 1, zeroStart, zeroEnd, row, first, middle);
    if (isWanted(oneCount + last - middle)) visit(level + 1, oneStart, oneEnd, rowOfOnes, middle, last);
  }

  /** Returns whether any of the next rows is wanted. Passes over them if not. */
  function isWanted(next: number): boolean {
    if (skip < next) return count < rows.length;
    skip -= next;
    return false;
  }

  function take(row: Row, times: number): void {
    if (!isWanted(times)) return;
    for (const until = Math.min(rows.length, count + times - skip); count < until; count++) rows[count] = row;
    skip = 0;
  }

  function takeListed(first: number, last: number): void {
    if (!isWanted(last - first)) return;
    const taken = listed.subarray(first + skip, Math.min(last, first + skip + rows.length - count));
    rows.set(taken, count);
    skip = 0;
    count += taken.length;
  }

  /** Takes rows that differ from `row` in their lowest byte alone, sorted by these bytes. */
  function takeByLows(from: number, to: number, row: Row, first: number, last: number): void {
    let size = last - first;
    for (let i = from; i < to; i += 2) size += path[i + 1] - path[i];
    if (size <= FEW_LOWS) {
      let sorted = 0;
      for (let i = from; i < to; i += 2)
        for (let at = path[i]; at < path[i + 1]; at++) insert(lows[at], sorted++);
      for (let i = first; i < last; i++) insert(listed[i] - row, sorted++);
      for (let i = 0; i < size; i++) take(row + fewLows[i], 1);
      return;
    }
    for (let i = from; i < to; i += 2)
      for (let at = path[i]; at < path[i + 1]; at++) countsOfLows[lows[at]]++;
    for (let i = first; i < last; i++) countsOfLows[listed[i] - row]++;
    for (let low = 0; low < LOW_VALUES; low++) {
      if (countsOfLows[low] > 0) take(row + low, countsOfLows[low]);
    }
    countsOfLows.fill(0);
  }
}

/** Inserts a byte into the first `count` of `fewLows`. */
function insert(low: number, count: number): void {
  let at = count;
  for (; at > 0 && fewLows[at - 1] > low; at--) fewLows[at] = fewLows[at - 1];
  fewLows[at] = low;
}

/** Counts the 1s ahead of a position in the level whose words begin at `base`. */
function onesBefore(words: Uint32s, base: number, position: number): number {
  const at = base + (position >>> 5) * BLOCK_WORDS;
  return words[at] + countOnes(words[at + 1] & ~(-1 << (position & 31)));
}

import { sharedUint32s, UINT32_BYTES, type Uint32s } from '../memory/shared-arrays.ts';
import { KeyTableBuilder } from './key-table.ts';
import { countStarts, lowerBound, NO_ROWS, rowSet } from './row-sets.ts';
import {
  buildWaveletMatrix,
  lengthOfRanges,
  type RowRanges,
  type WaveletMatrixImage,
} from './wavelet-matrix.ts';

/**
 * Posting lists in the order of an instant. A query reads ranges of one sequence, and counts its rows by their lengths.
 * No row may be in two of these ranges, so the sequence has sections:
 *
 *     alone    for each key: the rows that have no other key
 *     groups   for each set of several keys that many rows have: those rows; each of its keys refers to the group
 *     rare     for each key: the rows with a set of several keys that few rows have; a row occurs once for each key
 *
 *     bounds   section s is the positions bounds[s] … bounds[s + 1] of the sequence
 *     firsts   the groups of key k are groups[firsts[k] … firsts[k + 1]]
 *     groups   group numbers
 *     ranks    ranks of the rows in the instant index, ascending within each section
 *     matrix   over the rows
 */
export interface PostingsByInstant {
  readonly instant: string;
  readonly bounds: Uint32s;
  readonly firsts: Uint32s;
  readonly groups: Uint32s;
  readonly ranks: Uint32s;
  readonly matrix: WaveletMatrixImage;
}

/**
 * Builds the posting lists from pairs of row and key, in ascending order of row.
 * @param rows the rows by rank in the instant index
 * @param leastGroup least number of rows in a group
 */
export function buildPostingsByInstant(
  { rowOf, keyOf }: { readonly rowOf: Uint32s; readonly keyOf: Uint32s },
  keyCount: number,
  instant: string,
  rows: Uint32s,
  leastGroup?: number,
): PostingsByInstant {
  const firstPair = countStarts(rowOf, new Uint32Array(rows.length + 1));
  const keyGroups = groupRows(keyOf, firstPair, keyCount, leastGroup);
  const { firsts, groups, groupCount } = keyGroups;
  const { first, sectionOf } = sectionsOfRows(keyOf, firstPair, keyCount, keyGroups);
  const bounds = countStarts(sectionOf, sharedUint32s(2 * keyCount + groupCount + 1));
  const next = bounds.slice();
  const ranks = sharedUint32s(sectionOf.length);
  const sequence = new Uint32Array(sectionOf.length);
  for (let rank = 0; rank < rows.length; rank++) {
    const row = rows[rank];
    for (let i = first[row]; i < first[row + 1]; i++) {
      const at = next[sectionOf[i]]++;
      ranks[at] = rank;
      sequence[at] = row;
    }
  }
  return { instant, bounds, firsts, groups, ranks, matrix: buildWaveletMatrix(sequence, rows.length) };
}

/** Returns the sections of every row. Those of row r are sectionOf[first[r] … first[r + 1]]. */
function sectionsOfRows(
  keyOf: Uint32s,
  firstPair: Uint32s,
  keyCount: number,
  { groupOf, groupCount }: KeyGroups,
): { first: Uint32s; sectionOf: Uint32s } {
  const first = new Uint32Array(firstPair.length);
  const sectionOf = new Uint32Array(keyOf.length);
  const firstRare = keyCount + groupCount;
  let count = 0;
  for (let row = 0; row < groupOf.length; row++) {
    const [from, to] = [firstPair[row], firstPair[row + 1]];
    if (to - from === 1) sectionOf[count++] = keyOf[from];
    else if (groupOf[row] > 0) sectionOf[count++] = keyCount + groupOf[row] - 1;
    else for (let i = from; i < to; i++) sectionOf[count++] = firstRare + keyOf[i];
    first[row + 1] = count;
  }
  return { first, sectionOf: sectionOf.subarray(0, count) };
}

/** Rows of smaller groups are gathered instead, since each group adds a range to a query. */
const LEAST_GROUP = 32;

/** Groups of rows that have the same keys, more than one. */
type KeyGroups = ReturnType<typeof groupRows>;

/**
 * Groups the rows that have the same keys.
 * @param keyOf the keys of row r are keyOf[firstPair[r] … firstPair[r + 1]]
 */
function groupRows(keyOf: Uint32s, firstPair: Uint32s, keyCount: number, leastGroup = LEAST_GROUP) {
  /** By row: its group + 1, or 0 for a row with one key or none, or with keys that too few rows share. */
  const groupOf = new Uint32Array(firstPair.length - 1);
  const sets = new KeyTableBuilder();
  const sizes: number[] = [];
  // The keys of each row in ascending order, so that equal sets have equal bytes.
  const sorted = keyOf.slice();
  const bytes = new Uint8Array(sorted.buffer);
  for (let row = 0; row < groupOf.length; row++) {
    const [from, to] = [firstPair[row], firstPair[row + 1]];
    if (to - from < 2) continue;
    if (!isAscending(sorted, from, to)) sorted.subarray(from, to).sort();
    const number = sets.intern(bytes, from * UINT32_BYTES, to * UINT32_BYTES);
    sizes[number] = (sizes[number] ?? 0) + 1;
    groupOf[row] = number + 1;
  }
  let groupCount = 0;
  const groupOfSet = sizes.map((size) => (size < leastGroup ? 0 : ++groupCount));
  for (let row = 0; row < groupOf.length; row++) {
    if (groupOf[row] > 0) groupOf[row] = groupOfSet[groupOf[row] - 1];
  }
  const keysOfGroups = groupOfSet.flatMap((group, set) =>
    group === 0 ? [] : [new Uint32Array(sets.key(set).slice().buffer)],
  );
  return { groupCount, groupOf, ...groupsByKey(keysOfGroups, keyCount) };
}

function isAscending(values: Uint32s, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i++) if (values[i] < values[i - 1]) return false;
  return true;
}

/** Returns the groups of each key. Those of key k are groups[firsts[k] … firsts[k + 1]]. */
function groupsByKey(keysOfGroups: readonly Uint32s[], keyCount: number) {
  const firsts = sharedUint32s(keyCount + 1);
  for (const keys of keysOfGroups) for (const key of keys) firsts[key + 1]++;
  for (let key = 0; key < keyCount; key++) firsts[key + 1] += firsts[key];
  const next = firsts.slice();
  const groups = sharedUint32s(firsts[keyCount]);
  keysOfGroups.forEach((keys, group) => {
    for (const key of keys) groups[next[key]++] = group;
  });
  return { firsts, groups };
}

/** Ranges with at most this average number of rows are gathered and sorted instead of read through the matrix. */
const FEW_ROWS = 16;

/**
 * Returns the rows that have any of the keys, within a range of ranks.
 * Each row is either in one range or in `listed`, which has the rows of rare sections and of short ranges.
 * @param rows the rows by rank in the instant index
 */
export function rowsOfKeys(
  { bounds, firsts, groups, ranks, matrix }: PostingsByInstant,
  keys: readonly number[],
  rows: Uint32s,
  low: number,
  high: number,
  fewRows = FEW_ROWS,
): RowRanges {
  const inWindow = (sections: Iterable<number>): number[] => {
    const ranges: number[] = [];
    for (const section of sections) {
      const [start, end] = [bounds[section], bounds[section + 1]];
      const from = low === 0 ? start : lowerBound(ranks, low, start, end);
      const to = high === rows.length ? end : lowerBound(ranks, high, from, end);
      if (from < to) ranges.push(from, to);
    }
    return ranges;
  };
  const keyCount = firsts.length - 1;
  const firstRare = bounds.length - 1 - keyCount;
  const sections = new Set(keys);
  for (const key of keys) {
    for (let i = firsts[key]; i < firsts[key + 1]; i++) sections.add(keyCount + groups[i]);
  }
  const disjoint = inWindow(sections);
  const rare = inWindow(keys.map((key) => firstRare + key));
  const all = [...disjoint, ...rare];
  if (all.length > 2 && lengthOfRanges(all) <= (fewRows * all.length) / 2)
    return { matrix, ranges: NO_ROWS, listed: gathered(all, ranks, rows) };
  // Rare rows repeat only between keys, so those of one key stay a range.
  if (rare.length <= 2) return { matrix, ranges: Uint32Array.from(all), listed: NO_ROWS };
  return { matrix, ranges: Uint32Array.from(disjoint), listed: gathered(rare, ranks, rows) };
}

/** Returns the set of the rows at ranges of positions. */
function gathered(ranges: readonly number[], ranks: Uint32s, rows: Uint32s): Uint32s {
  const found = new Uint32Array(lengthOfRanges(ranges));
  let at = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    for (let position = ranges[i]; position < ranges[i + 1]; position++) found[at++] = rows[ranks[position]];
  }
  return rowSet(found, rows.length);
}

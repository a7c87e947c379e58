import { UINT32_BYTES, type Uint32s } from '../memory/shared-arrays.ts';
import { KeyTableBuilder } from './key-table.ts';
import { countStarts, lowerBound, NO_ROWS, rowSet, valuesByKey } from './row-sets.ts';
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
 */
export function buildPostingsByInstant(
  { rowOf, keyOf }: { readonly rowOf: Uint32s; readonly keyOf: Uint32s },
  keyCount: number,
  instant: string,
  rows: Uint32s,
): PostingsByInstant {
  const firstPair = countStarts(rowOf, new Uint32Array(rows.length + 1));
  const { groupOf, keysOfGroups } = groupRows(keyOf, firstPair);
  const firstRare = keyCount + keysOfGroups.length;
  // The pairs of section and rank, in ascending order of rank.
  const sectionOf = new Uint32Array(keyOf.length);
  const rankOf = new Uint32Array(keyOf.length);
  let count = 0;
  for (let rank = 0; rank < rows.length; rank++) {
    const row = rows[rank];
    const [from, to] = [firstPair[row], firstPair[row + 1]];
    if (groupOf[row] > 0) {
      rankOf[count] = rank;
      sectionOf[count++] = keyCount + groupOf[row] - 1;
      continue;
    }
    const firstSection = to - from === 1 ? 0 : firstRare;
    for (let i = from; i < to; i++) {
      rankOf[count] = rank;
      sectionOf[count++] = firstSection + keyOf[i];
    }
  }
  const { starts: bounds, values: ranks } = valuesByKey(
    sectionOf.subarray(0, count),
    rankOf,
    firstRare + keyCount,
  );
  const { starts: firsts, values: groups } = valuesByKey(
    Uint32Array.from(keysOfGroups.flat()),
    Uint32Array.from(keysOfGroups.flatMap((keys, group) => keys.map(() => group))),
    keyCount,
  );
  const sequence = new Uint32Array(count);
  for (let i = 0; i < count; i++) sequence[i] = rows[ranks[i]];
  return { instant, bounds, firsts, groups, ranks, matrix: buildWaveletMatrix(sequence, rows.length) };
}

/** Rows of smaller groups are gathered instead, since each group adds a range to a query. */
const LEAST_GROUP = 32;

/**
 * Groups the rows that have the same keys, more than one.
 * @param keyOf the keys of row r are keyOf[firstPair[r] … firstPair[r + 1]]
 * @returns the keys of each group, and for each row its group + 1, or 0 when it has one key or none, or keys that too
 *   few rows share
 */
function groupRows(keyOf: Uint32s, firstPair: Uint32s) {
  const groupOf = new Uint32Array(firstPair.length - 1);
  const sets = new KeyTableBuilder();
  const sizes: number[] = [];
  // The keys of each row in ascending order, so that equal sets have equal bytes.
  const sorted = keyOf.slice();
  const bytes = new Uint8Array(sorted.buffer);
  for (let row = 0; row < groupOf.length; row++) {
    const [from, to] = [firstPair[row], firstPair[row + 1]];
    if (to - from < 2) continue;
    sorted.subarray(from, to).sort();
    const number = sets.intern(bytes, from * UINT32_BYTES, to * UINT32_BYTES);
    sizes[number] = (sizes[number] ?? 0) + 1;
    groupOf[row] = number + 1;
  }
  const keysOfGroups: number[][] = [];
  const groupOfSet = sizes.map((size, set) => {
    if (size < LEAST_GROUP) return 0;
    return keysOfGroups.push([...new Uint32Array(sets.key(set).slice().buffer)]);
  });
  for (let row = 0; row < groupOf.length; row++) {
    if (groupOf[row] > 0) groupOf[row] = groupOfSet[groupOf[row] - 1];
  }
  return { groupOf, keysOfGroups };
}

/**
 * Returns the rows that have any of the keys, within a range of ranks.
 * Each row is either in one range or in `listed`, which has the rows of rare sections.
 * @param rows the rows by rank in the instant index
 */
export function rowsOfKeys(
  { bounds, firsts, groups, ranks, matrix }: PostingsByInstant,
  keys: readonly number[],
  rows: Uint32s,
  low: number,
  high: number,
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
  // Rare rows repeat only between keys, so those of one key stay a range.
  if (rare.length <= 2) return { matrix, ranges: Uint32Array.from([...disjoint, ...rare]), listed: NO_ROWS };
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

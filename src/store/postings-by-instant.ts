import { lowerBound } from './lower-bound.ts';
import { rowSet } from './row-sets.ts';
import { sharedUint32s, UINT32_BYTES } from './shared.ts';
import type { Uint32s } from './shared.ts';
import { buildWaveletMatrix, waveletMatrixBytes } from './wavelet-matrix.ts';
import type { RowRanges, WaveletMatrixImage } from './wavelet-matrix.ts';

/**
 * Posting lists with their rows in the order of an instant, so that the rows of any keys within any window of instants
 * are a few ranges of one sequence. The list of key k stands where it stands in the posting index, and has two parts:
 *
 *     starts[k] … shared[k]      rows that have this key alone: no other key has them, so that lists of several keys
 *                                are counted by adding up
 *     shared[k] … starts[k + 1]  rows that have other keys as well
 *
 *     ranks    the ranks of the rows in the instant index, ascending in each part
 *     matrix   of the rows
 */
export interface PostingsByInstant {
  /** Name of the instant index. */
  readonly instant: string;
  readonly starts: Uint32s;
  readonly shared: Uint32s;
  readonly ranks: Uint32s;
  readonly matrix: WaveletMatrixImage;
}

/** Bytes of the image of `pairs` pairs of row and key, of `keys` keys, in a collection that has `rowCount` rows. */
export function postingsByInstantBytes(pairs: number, keys: number, rowCount: number): number {
  return (keys + pairs) * UINT32_BYTES + waveletMatrixBytes(pairs, rowCount);
}

/** Pairs of row and key in ascending order of the row. */
export interface Pairs {
  readonly rowOf: Uint32s;
  readonly keyOf: Uint32s;
}

/**
 * @param starts where the posting list of each key begins, and the last one ends
 * @param rows of the instant index, by rank
 */
export function buildPostingsByInstant(
  { rowOf, keyOf }: Pairs,
  starts: Uint32s,
  instant: string,
  rows: Uint32s,
): PostingsByInstant {
  const firstPair = firstPairs(rowOf, rows.length);
  const shared = sharedUint32s(starts.length - 1);
  for (let i = 0; i < rowOf.length; i++) {
    if (firstPair[rowOf[i] + 1] - firstPair[rowOf[i]] === 1) shared[keyOf[i]]++;
  }
  for (let key = 0; key < shared.length; key++) shared[key] += starts[key];
  const nextAlone = starts.slice();
  const nextShared = shared.slice();
  const ranks = sharedUint32s(rowOf.length);
  const sequence = new Uint32Array(rowOf.length);
  for (let rank = 0; rank < rows.length; rank++) {
    const row = rows[rank];
    const [from, to] = [firstPair[row], firstPair[row + 1]];
    const next = to - from === 1 ? nextAlone : nextShared;
    for (let i = from; i < to; i++) {
      const at = next[keyOf[i]]++;
      ranks[at] = rank;
      sequence[at] = row;
    }
  }
  return { instant, starts, shared, ranks, matrix: buildWaveletMatrix(sequence, rows.length) };
}

/** Where the pairs of each row begin, and those of the last one end. */
function firstPairs(rowOf: Uint32s, rowCount: number): Uint32s {
  const first = new Uint32Array(rowCount + 1);
  for (const row of rowOf) first[row + 1]++;
  for (let row = 0; row < rowCount; row++) first[row + 1] += first[row];
  return first;
}

/**
 * The rows that have any of the keys and a rank from `low` to `high`, each once. Rows that keys may have in common are
 * gathered, all others are ranges.
 * @param rows of the instant index, by rank
 */
export function rowsOfKeys(
  index: PostingsByInstant,
  keys: readonly number[],
  rows: Uint32s,
  low: number,
  high: number,
): RowRanges {
  const { starts, shared, ranks, matrix } = index;
  const inWindow = (from: number, to: number): number[] => {
    const first = low === 0 ? from : lowerBound(ranks, low, from, to);
    const last = high === rows.length ? to : lowerBound(ranks, high, first, to);
    return first === last ? [] : [first, last];
  };
  const alone = keys.flatMap((key) => inWindow(starts[key], shared[key]));
  const inCommon = keys.flatMap((key) => inWindow(shared[key], starts[key + 1]));
  // One range has no row twice.
  if (inCommon.length <= 2)
    return { matrix, ranges: Uint32Array.from([...alone, ...inCommon]), others: NO_ROWS };
  return { matrix, ranges: Uint32Array.from(alone), others: gathered(inCommon, ranks, rows) };
}

const NO_ROWS: Uint32s = new Uint32Array(0);

/** The set of the rows at ranges of ranks. */
function gathered(ranges: readonly number[], ranks: Uint32s, rows: Uint32s): Uint32s {
  let length = 0;
  for (let i = 0; i < ranges.length; i += 2) length += ranges[i + 1] - ranges[i];
  const found = new Uint32Array(length);
  let at = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    for (let position = ranges[i]; position < ranges[i + 1]; position++) found[at++] = rows[ranks[position]];
  }
  return rowSet(found, rows.length);
}

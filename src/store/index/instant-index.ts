import { type Int64s, sharedInt64s, sharedUint32s, type Uint32s } from '../memory/shared-arrays.ts';
import { rowSpan } from './row-sets.ts';
import { buildWaveletMatrix, type WaveletMatrixImage } from './wavelet-matrix.ts';

/**
 * The rows of a collection by instant. Every row has at least one, such as `updatedAt`, or several, such as the session
 * starts of an event.
 *
 *     sorted   the instants, ascending
 *     rows     rows[i] has sorted[i]
 */
export interface InstantImage {
  readonly sorted: Int64s;
  readonly rows: Uint32s;
}

/**
 * An instant index whose rows have one instant each, so that a window of instants is a range of ranks.
 *
 *     ranks    ranks[row] is the position of the row in `sorted` and `rows`
 *     matrix   over `rows`: reads the rows of a range of ranks in list order
 */
export interface RankedInstantImage extends InstantImage {
  readonly ranks: Uint32s;
  readonly matrix: WaveletMatrixImage;
}

export function isRanked(image: InstantImage): image is RankedInstantImage {
  return 'ranks' in image;
}

/**
 * Builds an instant index without ranks.
 * @param rowOf by position in `instants`, the row that has the instant; by default the position itself
 */
export function instantImage(instants: Int64s, rowOf?: ArrayLike<number>): InstantImage {
  const order = instantOrder(instants);
  const sorted = sharedInt64s(order.length);
  const rows = sharedUint32s(order.length);
  for (let i = 0; i < order.length; i++) {
    sorted[i] = instants[order[i]];
    rows[i] = rowOf === undefined ? order[i] : rowOf[order[i]];
  }
  return { sorted, rows };
}

/** Returns the instant of each row. Each has one. */
export function instantsByRow({ sorted, rows }: InstantImage): Int64s {
  const instants = new BigInt64Array(rows.length);
  for (let i = 0; i < rows.length; i++) instants[rows[i]] = sorted[i];
  return instants;
}

/** Builds a ranked instant index. `instants` has the instant of each row. */
export function buildInstantIndex(instants: Int64s): RankedInstantImage {
  const { sorted, rows } = instantImage(instants);
  const ranks = sharedUint32s(rows.length);
  for (let rank = 0; rank < rows.length; rank++) ranks[rows[rank]] = rank;
  return { sorted, rows, ranks, matrix: buildWaveletMatrix(rows.slice(), rows.length) };
}

/**
 * Returns the positions of instants in ascending order of instant, then of position. Sorts by radix, least significant
 * byte first. Skips bytes that all values share: two of the eight for the microseconds of a few years.
 */
export function instantOrder(instants: Int64s): Uint32s {
  const count = instants.length;
  const bytes = new Uint8Array(instants.buffer, instants.byteOffset, count * 8);
  let order: Uint32s = rowSpan(0, count);
  let sorted: Uint32s = new Uint32Array(count);
  for (let byte = 0; byte < 8; byte++) {
    // With the sign bit flipped, negative instants come first.
    const flip = byte === 7 ? 0x80 : 0;
    const starts = new Uint32Array(0x101);
    for (let i = byte; i < count * 8; i += 8) starts[(bytes[i] ^ flip) + 1]++;
    if (starts[(bytes[byte] ^ flip) + 1] === count) continue;
    for (let value = 0; value < 0x100; value++) starts[value + 1] += starts[value];
    for (let i = 0; i < count; i++) {
      const position = order[i];
      sorted[starts[bytes[position * 8 + byte] ^ flip]++] = position;
    }
    [order, sorted] = [sorted, order];
  }
  return order;
}

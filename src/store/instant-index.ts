import { instantOrder } from './instant-order.ts';
import { sharedInt64s, sharedUint32s } from './shared.ts';
import type { Int64s, Uint32s } from './shared.ts';
import { buildWaveletMatrix } from './wavelet-matrix.ts';
import type { WaveletMatrixImage } from './wavelet-matrix.ts';

/**
 * The rows of a collection by an instant that they carry, such as `updatedAt`, or by several, such as the
 * starts of an event's sessions. Every row carries one at least.
 *
 *     sorted   the instants, ascending
 *     rows     rows[i] carries sorted[i]
 */
export interface InstantImage {
  readonly sorted: Int64s;
  readonly rows: Uint32s;
}

/**
 * The same where every row carries one, so that a window of instants is a range of ranks.
 *
 *     ranks    ranks[row] is where the row stands in the two above
 *     matrix   of `rows`, which gives the rows of a range of ranks in list order
 */
export interface RankedInstantImage extends InstantImage {
  readonly ranks: Uint32s;
  readonly matrix: WaveletMatrixImage;
}

export function isRanked(image: InstantImage): image is RankedInstantImage {
  return 'ranks' in image;
}

/** `instants[row]` is what the row carries. */
export function buildInstantIndex(instants: Int64s): RankedInstantImage {
  const order = instantOrder(instants);
  const sorted = sharedInt64s(order.length);
  const rows = sharedUint32s(order.length);
  const ranks = sharedUint32s(order.length);
  rows.set(order);
  for (let rank = 0; rank < order.length; rank++) {
    sorted[rank] = instants[order[rank]];
    ranks[order[rank]] = rank;
  }
  return { sorted, rows, ranks, matrix: buildWaveletMatrix(order, order.length) };
}

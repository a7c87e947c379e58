import type { Slab } from './records.ts';

/**
 * A load refers to an earlier slab only if the records in memory fill this share of it at least: so the slabs of a list
 * have at most 1.25 times the bytes of those records. The shares go up to a maximum, since changes at random would
 * otherwise empty all slabs at the same moment.
 */
export const MIN_SHARE = 0.8;
const MAX_SHARE = 0.95;
const GOLDEN_RATIO = 0.618_033_988_749_895;

/** Number of slabs of less than half the size that a list has at most. */
const MAX_SMALL = 64;

/**
 * Returns the positions of the slabs out of which a load moves the records.
 * @param slabs of earlier images
 * @param used by slab: bytes of the records in it that stay in memory
 */
export function slabsToLeave(
  slabs: readonly Slab[],
  used: readonly number[],
  slabBytes: number,
): ReadonlySet<number> {
  const needed = [...slabs.keys()].filter((slab) => used[slab] > 0);
  const hardlyUsed = needed.filter((slab) => {
    const { number, bytes } = slabs[slab];
    // Multiples of the golden ratio are distributed evenly.
    const share = MIN_SHARE + (MAX_SHARE - MIN_SHARE) * ((number * GOLDEN_RATIO) % 1);
    return used[slab] < share * bytes.length;
  });
  const small = needed.filter((slab) => slabs[slab].bytes.length < slabBytes / 2);
  return new Set(small.length > MAX_SMALL ? [...hardlyUsed, ...small] : hardlyUsed);
}

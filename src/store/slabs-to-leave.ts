import type { Slab } from './records.ts';

/** The records in memory fill this share of an earlier slab at least: so slabs have at most 1.25 times their bytes. */
export const MIN_SHARE = 0.8;

/** Bytes that a load moves for each byte that it copies, so that the rows of a list become adjacent again … */
const MOVED_BYTES = 32;
/** … and at most this share of the list. */
const MAX_MOVED = 1 / 8;

/** Number of slabs of less than half the size, beyond which their missing half counts as free space. */
const MAX_SMALL = 64;

/**
 * Returns the positions of the slabs out of which a load moves the records: those that are hardly used, and some others,
 * first those with the most free space. Otherwise, changes at random would empty all slabs at the same moment.
 * @param slabs of earlier images
 * @param used by slab: bytes of the records in it that stay in memory
 * @param copiedBytes of the records that are in no slab
 */
export function slabsToLeave(
  slabs: readonly Slab[],
  used: readonly number[],
  copiedBytes: number,
  slabBytes: number,
): ReadonlySet<number> {
  const lengthOf = (slab: number) => slabs[slab].bytes.length;
  const needed = [...slabs.keys()].filter((slab) => used[slab] > 0);
  const isMany = needed.filter((slab) => lengthOf(slab) < slabBytes / 2).length > MAX_SMALL;
  const shareOf = (slab: number) => used[slab] / Math.max(lengthOf(slab), isMany ? slabBytes / 2 : 0);
  const bytes = used.reduce((sum, more) => sum + more, 0);
  let room = Math.min(MOVED_BYTES * copiedBytes, MAX_MOVED * bytes);
  const left = needed
    .toSorted((a, b) => shareOf(a) - shareOf(b))
    .filter((slab) => {
      const isTidied = room > 0 && shareOf(slab) < 1;
      if (!isTidied && used[slab] >= MIN_SHARE * lengthOf(slab)) return false;
      room -= used[slab];
      return true;
    });
  return new Set(left);
}

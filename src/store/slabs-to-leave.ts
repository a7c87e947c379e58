import type { Bytes, Uint32s } from './memory/shared-arrays.ts';
import { PLACE, type RecordTable, type Slab } from './records.ts';

/**
 * A table refers to an earlier slab only if its records fill this share of it at least: so the slabs of a list have at
 * most 1.25 times the bytes of the records in memory. The shares go up to a maximum, since changes at random would
 * otherwise empty all slabs at the same moment.
 */
export const MIN_SHARE = 0.8;
const MAX_SHARE = 0.95;
const GOLDEN_RATIO = 0.618_033_988_749_895;

/** Number of slabs of less than half the size that a table has at most. */
const MAX_SMALL = 64;

/**
 * Returns the earlier slabs out of which a new table moves its records.
 * @param used by slab: bytes of the records in it
 * @param earlier the slabs of earlier tables
 */
export function slabsToLeave(
  slabs: readonly Slab[],
  used: readonly number[],
  earlier: Iterable<number>,
  slabBytes: number,
): Set<number> {
  const needed = [...earlier].filter((slab) => used[slab] > 0);
  const hardlyUsed = needed.filter((slab) => {
    const { number, bytes } = slabs[slab];
    // Multiples of the golden ratio are distributed evenly.
    const share = MIN_SHARE + (MAX_SHARE - MIN_SHARE) * ((number * GOLDEN_RATIO) % 1);
    return used[slab] < share * bytes.length;
  });
  const small = needed.filter((slab) => slabs[slab].bytes.length < slabBytes / 2);
  return new Set(small.length > MAX_SMALL ? [...hardlyUsed, ...small] : hardlyUsed);
}

/** Returns for each record of a table 1 if one of the images with these numbers has it. */
export function recordsOf(images: readonly Uint32s[], count: number): Bytes {
  const isUsed = new Uint8Array(count);
  for (const numbers of images) for (const number of numbers) isUsed[number] = 1;
  return isUsed;
}

/** Returns for each slab of a table 1 if one of these images has a record in it. */
export function slabsOf({ slabs, places }: RecordTable, images: readonly Uint32s[]): Bytes {
  const isUsed = new Uint8Array(slabs.length);
  for (const numbers of images) for (const number of numbers) isUsed[places[number * PLACE]] = 1;
  return isUsed;
}

/** Computes for each slab of a table the bytes of its used records. */
export function bytesBySlab({ slabs, places }: RecordTable, isUsed: Bytes): number[] {
  const bytes = slabs.map(() => 0);
  for (let number = 0, at = 0; number < isUsed.length; number++, at += PLACE)
    if (isUsed[number] === 1) bytes[places[at]] += places[at + 2] - places[at + 1];
  return bytes;
}

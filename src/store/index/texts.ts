import type { Bytes, Uint32s } from '../memory/shared-arrays.ts';

/**
 * Hashes bytes for a table with open addressing, by the golden ratio (Knuth, "The Art of Computer Programming", 6.4). The
 * low bits, which select the slot, depend on every byte. A call of `crc32` for each text takes a load 5 % longer.
 */
export function hashBytes(bytes: Bytes, start = 0, end = bytes.length): number {
  let hash = 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x9e3779b1);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Returns the size of an open-addressing table for `count` entries: a power of two. At most half of it is used. */
export function slotCount(count: number): number {
  return 2 ** Math.max(2, Math.ceil(Math.log2(count * 2 + 1)));
}

/** Texts as UTF-8: text i is `bytes[starts[i] … ends[i]]`. */
export interface Texts {
  readonly bytes: Bytes;
  readonly starts: Uint32s;
  readonly ends: Uint32s;
}

export function decodeText({ bytes, starts, ends }: Texts, i: number): string {
  return Buffer.from(bytes.subarray(starts[i], ends[i])).toString();
}

export function hashText({ bytes, starts, ends }: Texts, i: number): number {
  return hashBytes(bytes, starts[i], ends[i]);
}

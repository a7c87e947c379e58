import type { Bytes } from './shared.ts';

/**
 * FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/), finished by the mixer of MurmurHash3 so that
 * the low bits, which pick the slot, depend on every byte.
 */
export function hashBytes(bytes: Bytes, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The number of slots of an open-addressing table for `count` entries: a power of two, at most half full. */
export function slotCount(count: number): number {
  return 2 ** Math.max(2, Math.ceil(Math.log2(count * 2 + 1)));
}

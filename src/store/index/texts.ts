import type { Bytes, Uint32s } from '../memory/shared-arrays.ts';

/**
 * Hashes bytes by 32-bit FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) and the mixer of MurmurHash3.
 * So the low bits, which select the slot, depend on every byte.
 */
export function hashBytes(bytes: Bytes, start: number, end: number): number {
  let hash = EMPTY_HASH;
  for (let i = start; i < end; i++) hash = addToHash(hash, bytes[i]);
  return finishHash(hash);
}

/** Start of a hash in steps, for loops that also read the bytes for another purpose. */
export const EMPTY_HASH = 0x811c9dc5;

/** Returns a hash with one more byte. */
export function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** Returns the hash of `hashBytes` after the last byte. */
export function finishHash(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const mixedAgain = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixedAgain ^ (mixedAgain >>> 16)) >>> 0;
}

/** Returns the size of an open-addressing table for `count` entries: a power of two. At most half of it is used. */
export function slotCount(count: number): number {
  return 2 ** Math.max(2, Math.ceil(Math.log2(count * 2 + 1)));
}

/** Texts as UTF-8: text i is `bytes[starts[i] … ends[i]]`, and its hash is `hashes[i]`. */
export interface Texts {
  readonly bytes: Bytes;
  readonly starts: Uint32s;
  readonly ends: Uint32s;
  readonly hashes: Uint32s;
}

/** Encodes well-formed texts, one after another. */
export function encodeTexts(texts: readonly string[]): Texts {
  const bytes = Buffer.from(texts.join(''));
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  const hashes = new Uint32Array(texts.length);
  let length = 0;
  for (const [i, text] of texts.entries()) {
    starts[i] = length;
    length += Buffer.byteLength(text);
    ends[i] = length;
    hashes[i] = hashBytes(bytes, starts[i], length);
  }
  return { bytes, starts, ends, hashes };
}

/** Decodes text `i`. */
export function decodeText({ bytes, starts, ends }: Texts, i: number): string {
  return Buffer.from(bytes.subarray(starts[i], ends[i])).toString();
}

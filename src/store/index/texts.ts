import { inheritedMemory } from '../memory/inherited-memory.ts';
import type { Bytes, Uint32s } from '../memory/shared-arrays.ts';

/**
 * The key of the hashes in this process. Its threads inherit it, since they share the tables, and nothing stores it:
 * without the key, texts with equal hashes, which make a table slow, cannot be found.
 */
const [KEY_0, KEY_1] = inheritedMemory('foyer hash key', () => crypto.getRandomValues(new Uint32Array(2)));

/**
 * Hashes bytes for a table with open addressing, by HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input
 * PRF", INDOCRYPT 2012; https://github.com/veorq/SipHash).
 */
export function hashBytes(bytes: Bytes, start = 0, end = bytes.length): number {
  let [v0, v1, v2, v3] = [KEY_0 | 0, KEY_1 | 0, 0x6c796765 ^ KEY_0, 0x74656462 ^ KEY_1];
  const whole = (end - start) >>> 2;
  // The words of the text, a word with its last bytes and its length, and three rounds without a word.
  for (let i = 0, at = start; i < whole + 4; i++, at += 4) {
    let word = 0;
    if (i < whole) word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    else if (i === whole) {
      word = (end - start) << 24;
      for (let last = at; last < end; last++) word |= bytes[last] << (8 * (last - at));
    } else if (i === whole + 1) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
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

import { crc32 } from 'node:zlib';
import type { Bytes, Uint32s } from '../memory/shared-arrays.ts';

/** Hashes bytes for a table with open addressing. The low bits, which select the slot, depend on every byte. */
export function hashBytes(bytes: Bytes, start = 0, end = bytes.length): number {
  return crc32(bytes.subarray(start, end));
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

export function decodeText({ bytes, starts, ends }: Texts, i: number): string {
  return Buffer.from(bytes.subarray(starts[i], ends[i])).toString();
}

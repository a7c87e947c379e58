import { hashBytes } from './hash.ts';
import type { Bytes, Uint32s } from './shared.ts';

/** Texts as UTF-8: text i is starts[i] … ends[i] in `bytes`, and its hash is hashes[i]. */
export interface Texts {
  readonly bytes: Bytes;
  readonly starts: Uint32s;
  readonly ends: Uint32s;
  readonly hashes: Uint32s;
}

/** Encodes well-formed texts, one after the other. */
export function encodeTexts(texts: readonly string[]): Texts {
  const joined = texts.join('');
  const bytes = Buffer.from(joined);
  const isAscii = bytes.length === joined.length;
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  const hashes = new Uint32Array(texts.length);
  let length = 0;
  for (const [i, text] of texts.entries()) {
    starts[i] = length;
    length += isAscii ? text.length : Buffer.byteLength(text);
    ends[i] = length;
    hashes[i] = hashBytes(bytes, starts[i], length);
  }
  return { bytes, starts, ends, hashes };
}

/** Decodes text `i`. */
export function decodeText({ bytes, starts, ends }: Texts, i: number): string {
  return Buffer.from(bytes.subarray(starts[i], ends[i])).toString();
}

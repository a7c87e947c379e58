import type { Texts } from '../../src/store/index/texts.ts';

/** Encodes well-formed texts, one after another. */
export function encodeTexts(texts: readonly string[]): Texts {
  const bounds = new Uint32Array(texts.length + 1);
  for (const [i, text] of texts.entries()) bounds[i + 1] = bounds[i] + Buffer.byteLength(text);
  return { bytes: Buffer.from(texts.join('')), starts: bounds.subarray(0, -1), ends: bounds.subarray(1) };
}

import type { Bytes, Uint32s } from './memory/shared-arrays.ts';
import { encodeTexts, hashBytes, type Texts } from './index/texts.ts';

/** The bytes of stored records: JSON texts, each with a text that is not empty as its first value, such as its id. */

export const COMMA = 0x2c;
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
const COLON = 0x3a;
const FIRST_VISIBLE = 0x20;

/** Returns the beginning of every record of a collection, `{"ticketId":`. */
export function recordPrefix(firstField: string): string {
  return `{${JSON.stringify(firstField)}:`;
}

/**
 * Reads the first values of consecutive records, with the hashes of their UTF-8.
 * A value that is not in the form of JSON.stringify is refused: look-ups compare values in this form.
 * @param offsets of each record, and of the end, as if one byte followed the last record
 * @param refuse called with the position of a record that does not begin with a valid value
 */
export function firstValues(
  records: Buffer,
  offsets: Uint32s,
  firstField: string,
  refuse: (i: number) => never,
): Texts {
  const prefix = Buffer.from(`${recordPrefix(firstField)}"`);
  const count = offsets.length - 1;
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  const hashes = new Uint32Array(count);
  let isPlain = true;
  for (let i = 0; i < count; i++) {
    if (!beginsWith(records, offsets[i], prefix)) refuse(i);
    const end = offsets[i + 1] - 1;
    let at = offsets[i] + prefix.length;
    starts[i] = at;
    for (; at < end && records[at] !== QUOTE; at++) {
      if (records[at] === BACKSLASH || records[at] < FIRST_VISIBLE) isPlain = false;
    }
    if (at >= end || at === starts[i]) refuse(i);
    hashes[i] = hashBytes(records, starts[i], at);
    ends[i] = at;
  }
  if (isPlain) return { bytes: records, starts, ends, hashes };
  return encodeTexts(
    Array.from(starts, (start, i) => decodedText(records, start, offsets[i + 1] - 1) ?? refuse(i)),
  );
}

function beginsWith(bytes: Bytes, start: number, prefix: Bytes): boolean {
  for (let i = 0; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}

/** Returns the first value of a stored record as JSON: a view of its bytes. */
export function firstValueOf(record: Buffer): Buffer {
  const start = record.indexOf(COLON) + 1;
  return record.subarray(start, endOfText(record, start + 1, record.length) + 1);
}

/** Returns the position of the quote that ends the text that begins at `start`. */
function endOfText(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Decodes the JSON text that begins after a quote. Returns undefined if it is not in the form of JSON.stringify. */
function decodedText(bytes: Buffer, start: number, end: number): string | undefined {
  const at = endOfText(bytes, start, end);
  const json = bytes.toString('utf8', start - 1, Math.min(at + 1, end));
  try {
    const text = String(JSON.parse(json));
    return text.isWellFormed() && JSON.stringify(text) === json ? text : undefined;
  } catch {
    return undefined;
  }
}

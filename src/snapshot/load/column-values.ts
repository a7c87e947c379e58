import { isUtf8 } from 'node:buffer';
import type { Texts } from '../../store/index/texts.ts';
import type { Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';
import { BACKSLASH, COMMA, endOfText, QUOTE } from '../../store/records.ts';
import { parseJson } from '../format/json-values.ts';

/**
 * Decoders for the columns of a run, each a JSON array without white space, with one element for each record. A decoder
 * returns undefined when the column is not such an array of `count` elements.
 *
 * Texts are not copied: one pass over the column finds their bounds. Parsing the column and
 * encoding its texts again takes 3.6 times as long (2,000,000 distinct texts of 20 bytes).
 */

const BLANK = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/**
 * Decodes `["…","…",0]`. An element is a text, or the position of an earlier element with that text.
 * @returns the distinct texts, in order of first occurrence, of which a writer may repeat some, and for each record the
 *   position of its text among them
 */
export function readTexts(column: Buffer, count: number) {
  const texts = textSpace(column, count);
  const textOf = new Uint32Array(count);
  /** For each text, the position of its element. */
  const elementOf = new Uint32Array(count);
  if (column[0] !== OPEN || !isUtf8(column)) return undefined;
  let at = 1;
  let read = 0;
  for (let i = 0; i < count; i++) {
    if (column[at] === QUOTE) {
      textOf[i] = read;
      elementOf[read] = i;
      at = readText(texts, read++, at);
    } else {
      const first = at;
      let position = 0;
      for (; column[at] >= DIGIT_0 && column[at] <= DIGIT_9; at++)
        position = position * 10 + column[at] - DIGIT_0;
      if (at === first || (column[first] === DIGIT_0 && at > first + 1)) return undefined;
      if (position >= i || elementOf[textOf[position]] !== position) return undefined;
      textOf[i] = textOf[position];
    }
    if (column[at++] !== (i + 1 < count ? COMMA : CLOSE)) return undefined;
  }
  return at === column.length ? { texts: firstTexts(texts, read), textOf } : undefined;
}

/**
 * Decodes `[["…","…"],[],["…"]]`.
 * @returns the elements of all lists, record after record, and for each record the length of its list
 */
export function readLists(column: Buffer, count: number) {
  // Each text takes at least two quotes, and the comma or bracket that follows.
  const texts = textSpace(column, Math.ceil(column.length / 3));
  const counts = new Uint32Array(count);
  if (column[0] !== OPEN || !isUtf8(column)) return undefined;
  let at = 1;
  let read = 0;
  for (let i = 0; i < count; i++) {
    if (column[at++] !== OPEN) return undefined;
    const first = read;
    if (column[at] === CLOSE) at++;
    else {
      do at = readText(texts, read++, at);
      while (column[at++] === COMMA);
      if (column[at - 1] !== CLOSE) return undefined;
    }
    counts[i] = read - first;
    if (column[at++] !== (i + 1 < count ? COMMA : CLOSE)) return undefined;
  }
  return at === column.length ? { texts: firstTexts(texts, read), counts } : undefined;
}

interface DecodedTexts extends Texts {
  /** The JSON, or a copy of it in which escaped texts are decoded in place. */
  readonly bytes: Buffer;
}

/** Returns space for the texts of some JSON, which `readText` reads. */
export function textSpace(json: Buffer, count: number): DecodedTexts {
  const bytes = json.includes(BACKSLASH) ? Buffer.from(json) : json;
  return { bytes, starts: new Uint32Array(count), ends: new Uint32Array(count) };
}

function firstTexts({ bytes, starts, ends }: Texts, count: number): Texts {
  return { bytes, starts: starts.subarray(0, count), ends: ends.subarray(0, count) };
}

/** Reads the quoted text at `at` as text `i`. Returns the offset behind its closing quote, or 0 when there is no text. */
export function readText(texts: DecodedTexts, i: number, at: number): number {
  const { bytes, starts, ends } = texts;
  if (bytes[at] !== QUOTE) return 0;
  let end = at + 1;
  while (bytes[end] >= BLANK && bytes[end] !== QUOTE && bytes[end] !== BACKSLASH) end++;
  if (bytes[end] === BACKSLASH) return readEscapedText(texts, i, at);
  if (bytes[end] !== QUOTE) return 0;
  starts[i] = at + 1;
  ends[i] = end;
  return end + 1;
}

/** Decodes a text with escapes in its place. It takes fewer bytes there. */
function readEscapedText({ bytes, starts, ends }: DecodedTexts, i: number, at: number): number {
  const quote = endOfText(bytes, at + 1);
  const text = parseJson(bytes.toString('utf8', at, quote + 1));
  if (typeof text !== 'string' || !text.isWellFormed()) return 0;
  starts[i] = at + 1;
  ends[i] = starts[i] + bytes.write(text, starts[i]);
  return quote + 1;
}

/** Decodes whole numbers from 0 to 2^32 - 1. */
export function readCounts(column: Buffer, count: number): Uint32s | undefined {
  return readNumbers(column, count, (numbers) => new Uint32Array(numbers.map(Number)));
}

/** Decodes whole numbers of 64 bits. `JSON.parse` would not be exact beyond 2^53. */
export function readInstants(column: Buffer, count: number): Int64s | undefined {
  return readNumbers(column, count, (numbers) => new BigInt64Array(numbers.map(BigInt)));
}

/** Characters of a number of 64 bits, with the comma after it. A longer column could keep `parse` busy. */
const MAX_NUMBER_LENGTH = 21;

/** Returns numbers whose array has the text of the column. One out of range has another text. */
function readNumbers<Numbers extends Uint32s | Int64s>(
  column: Buffer,
  count: number,
  parse: (numbers: readonly string[]) => Numbers,
): Numbers | undefined {
  if (column.length > count * MAX_NUMBER_LENGTH + 1) return undefined;
  const text = column.toString('latin1');
  if (!/^\[-?\d+(?:,-?\d+)*\]$/.test(text)) return undefined;
  const numbers = parse(text.slice(1, -1).split(','));
  return numbers.length === count && `[${numbers.join()}]` === text ? numbers : undefined;
}

import { isUtf8 } from 'node:buffer';
import { addToHash, EMPTY_HASH, encodeTexts, finishHash, type Texts } from '../../store/index/texts.ts';
import type { Bytes, Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';

/**
 * Decoders for the columns of a run, each a JSON array with one element for each record. A decoder returns undefined
 * when the column is not such an array of `count` elements.
 */

const BLANK = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;

/** One text for each record. */
export interface TextValues {
  /** The distinct texts, in order of first occurrence; a writer may repeat some of them. */
  readonly texts: Texts;
  /** For each record, the position of its text in `texts`. */
  readonly textOf: Uint32s;
}

/** Decodes one text for each record. An element is a text, or the position of an earlier element with that text. */
export function readTexts(column: Buffer, count: number): TextValues | undefined {
  if (!isUtf8(column)) return undefined;
  if (!column.includes(BACKSLASH)) return readPlainTexts(column, count);
  const values = readArray(column, count);
  if (values === undefined) return undefined;
  const texts: string[] = [];
  const textOf = new Uint32Array(count);
  for (const [i, value] of values.entries()) {
    if (isText(value)) textOf[i] = texts.push(value) - 1;
    else if (typeof value === 'number' && value < i && isText(values[value])) textOf[i] = textOf[value];
    else return undefined;
  }
  return { texts: encodeTexts(texts), textOf };
}

/** A list of texts for each record. */
export interface Lists {
  /** The elements of all lists, record after record. */
  readonly texts: Texts;
  /** For each record, the length of its list. */
  readonly counts: Uint32s;
}

/** Decodes one list of texts for each record. */
export function readLists(column: Buffer, count: number): Lists | undefined {
  if (!isUtf8(column)) return undefined;
  if (!column.includes(BACKSLASH)) return readPlainLists(column, count);
  const lists = readArray(column, count);
  if (lists?.every(isListOfTexts) !== true) return undefined;
  return { texts: encodeTexts(lists.flat()), counts: Uint32Array.from(lists, ({ length }) => length) };
}

/*
 * Texts without escapes are not copied: one pass over the column finds their bounds and computes their hashes. Parsing
 * the column and encoding its texts again takes 3.6 times as long (2,000,000 distinct texts of 20 bytes).
 */

/** Decodes `["…","…",0]`. */
function readPlainTexts(column: Bytes, count: number): TextValues | undefined {
  const texts = textsIn(column, count);
  const textOf = new Uint32Array(count);
  /** For each text, the position of its element. */
  const elementOf = new Uint32Array(count);
  if (column[0] !== OPEN) return undefined;
  let at = 1;
  let read = 0;
  for (let i = 0; i < count; i++) {
    if (column[at] === QUOTE) {
      textOf[i] = read;
      elementOf[read] = i;
      at = readPlainText(texts, read++, at);
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

/** Decodes `[["…","…"],[],["…"]]`. */
function readPlainLists(column: Bytes, count: number): Lists | undefined {
  // Each text takes at least two quotes, and the comma or bracket that follows.
  const texts = textsIn(column, Math.ceil(column.length / 3));
  const counts = new Uint32Array(count);
  if (column[0] !== OPEN) return undefined;
  let at = 1;
  let read = 0;
  for (let i = 0; i < count; i++) {
    if (column[at++] !== OPEN) return undefined;
    const first = read;
    if (column[at] === CLOSE) at++;
    else {
      do at = readPlainText(texts, read++, at);
      while (column[at++] === COMMA);
      if (column[at - 1] !== CLOSE) return undefined;
    }
    counts[i] = read - first;
    if (column[at++] !== (i + 1 < count ? COMMA : CLOSE)) return undefined;
  }
  return at === column.length ? { texts: firstTexts(texts, read), counts } : undefined;
}

/** Reads the quoted text at `at` as text `i`. Returns the offset behind its closing quote, or 0 when there is no text. */
function readPlainText({ bytes, starts, ends, hashes }: Texts, i: number, at: number): number {
  if (bytes[at] !== QUOTE) return 0;
  const start = at + 1;
  let end = start;
  let hash = EMPTY_HASH;
  for (; isPlain(bytes[end]); end++) hash = addToHash(hash, bytes[end]);
  if (bytes[end] !== QUOTE) return 0;
  starts[i] = start;
  ends[i] = end;
  hashes[i] = finishHash(hash);
  return end + 1;
}

function textsIn(bytes: Bytes, count: number): Texts {
  const array = () => new Uint32Array(count);
  return { bytes, starts: array(), ends: array(), hashes: array() };
}

function firstTexts({ bytes, starts, ends, hashes }: Texts, count: number): Texts {
  const first = (array: Uint32s) => array.subarray(0, count);
  return { bytes, starts: first(starts), ends: first(ends), hashes: first(hashes) };
}

/** Decodes whole numbers from 0 to 2^32 - 1. */
export function readCounts(column: Buffer, count: number): Uint32s | undefined {
  const values = readArray(column, count);
  if (values === undefined) return undefined;
  const counts = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    counts[i] = Number(values[i]);
    if (counts[i] !== values[i]) return undefined;
  }
  return counts;
}

/** Decodes whole numbers of 64 bits into `target`, from element `at` on. Returns whether the column is valid. */
export function readInstants(column: Buffer, count: number, target: Int64s, at: number): boolean {
  const values = readArray(column, count);
  if (values === undefined) return false;
  for (const [i, value] of values.entries()) {
    if (!Number.isSafeInteger(value)) return readLargeInstants(column, count, target, at);
    target[at + i] = BigInt(Number(value));
  }
  return true;
}

/** Decodes instants beyond 2^53 from their digits. The numbers of `JSON.parse` are not exact there. */
function readLargeInstants(column: Buffer, count: number, target: Int64s, at: number): boolean {
  const digits = column.toString('latin1', 1, column.length - 1).split(',');
  if (!digits.every((number) => /^-?\d{1,19}$/.test(number))) return false;
  const instants = digits.map(BigInt);
  if (instants.length !== count || instants.some((instant) => instant !== BigInt.asIntN(64, instant)))
    return false;
  target.set(instants, at);
  return true;
}

function readArray(column: Buffer, count: number): readonly unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(column.toString());
    return Array.isArray(values) && values.length === count ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a byte may be in a JSON text without an escape. The column has no backslash. */
function isPlain(byte: number | undefined): byte is number {
  return byte !== undefined && (byte > QUOTE || byte === BLANK || byte === QUOTE - 1);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

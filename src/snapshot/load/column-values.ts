import { isUtf8 } from 'node:buffer';
import { addToHash, EMPTY_HASH, encodeTexts, finishHash, type Texts } from '../../store/index/texts.ts';
import type { Bytes, Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';

/**
 * Reads the columns of a run: JSON arrays with one element for each record. Every function returns undefined when the
 * column is not such an array of `count` elements.
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
  /** The different texts, in the order of their first appearance. */
  readonly texts: Texts;
  /** The position of each record's text among them. */
  readonly textOf: Uint32s;
}

/** Reads one text for each record: an element is a text, or the position of an earlier element with the same. */
export function readTexts(column: Buffer, count: number): TextValues | undefined {
  if (!isUtf8(column)) return undefined;
  if (!column.includes(BACKSLASH)) return readPlainTexts(column, count);
  const values = readArray(column, count);
  if (values === undefined) return undefined;
  const texts: string[] = [];
  const textOf = new Uint32Array(count);
  for (const [i, value] of values.entries()) {
    if (isText(value)) textOf[i] = texts.push(value) - 1;
    else if (isPosition(value, i) && isText(values[value])) textOf[i] = textOf[value];
    else return undefined;
  }
  return { texts: encodeTexts(texts), textOf };
}

/** Lists of texts: those of one record after those of the other. */
export interface Lists {
  readonly texts: Texts;
  /** How many texts each record has. */
  readonly counts: Uint32s;
}

/** Reads a list of texts for each record. */
export function readLists(column: Buffer, count: number): Lists | undefined {
  if (!isUtf8(column)) return undefined;
  if (!column.includes(BACKSLASH)) return readPlainLists(column, count);
  const lists = readArray(column, count);
  if (lists?.every(isListOfTexts) !== true) return undefined;
  return { texts: encodeTexts(lists.flat()), counts: Uint32Array.from(lists, ({ length }) => length) };
}

/*
 * Texts without an escape stay where they are in the column. Their bytes are read once, for the quotes and for the hashes:
 * to parse the column, and to encode the texts again, takes several times as long.
 */

/** Reads `["…","…",0]`. */
function readPlainTexts(column: Bytes, count: number): TextValues | undefined {
  const texts = textsIn(column, count);
  const textOf = new Uint32Array(count);
  /** The element that is each text. */
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
      for (; isDigit(column[at]); at++) position = position * 10 + column[at] - DIGIT_0;
      if (at === first || (column[first] === DIGIT_0 && at > first + 1)) return undefined;
      if (position >= i || elementOf[textOf[position]] !== position) return undefined;
      textOf[i] = textOf[position];
    }
    if (column[at++] !== (i + 1 < count ? COMMA : CLOSE)) return undefined;
  }
  return at === column.length ? { texts: firstTexts(texts, read), textOf } : undefined;
}

/** Reads `[["…","…"],[],["…"]]`. */
function readPlainLists(column: Bytes, count: number): Lists | undefined {
  // A text has two quotes, and a comma or a bracket behind it.
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

/** Reads the text that begins with a quote at `at`, as text `i`. Returns where it ends, quote included; 0 if there is none. */
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
  return {
    bytes,
    starts: new Uint32Array(count),
    ends: new Uint32Array(count),
    hashes: new Uint32Array(count),
  };
}

function firstTexts({ bytes, starts, ends, hashes }: Texts, count: number): Texts {
  return {
    bytes,
    starts: starts.subarray(0, count),
    ends: ends.subarray(0, count),
    hashes: hashes.subarray(0, count),
  };
}

/** Reads whole numbers from 0 to 2^32 - 1. */
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

/** Reads whole numbers of 64 bits into `target`, from element `at` on. Returns whether they are such. */
export function readInstants(column: Buffer, count: number, target: Int64s, at: number): boolean {
  const values = readArray(column, count);
  if (values === undefined) return false;
  // The lower 32 bits of each number before the upper ones: a bigint for each would take ten times as long.
  const halves = new Uint32Array(target.buffer, target.byteOffset + at * target.BYTES_PER_ELEMENT, 2 * count);
  for (let i = 0; i < count; i++) {
    const value = values[i];
    if (!Number.isSafeInteger(value)) return readLargeInstants(column, count, target, at);
    halves[2 * i] = Number(value);
    halves[2 * i + 1] = Math.floor(Number(value) / 2 ** 32);
  }
  return true;
}

/** Reads the same where some number is beyond 2^53, and a double would not be exact. */
function readLargeInstants(column: Buffer, count: number, target: Int64s, at: number): boolean {
  const digits = column.toString('latin1', 1, column.length - 1).split(',');
  if (!digits.every((number) => /^-?\d{1,19}$/.test(number))) return false;
  const instants = digits.map(BigInt);
  if (instants.length !== count || instants.some((instant) => instant !== BigInt.asIntN(64, instant)))
    return false;
  target.set(instants, at);
  return true;
}

/** Reads any values. */
function readArray(column: Buffer, count: number): readonly unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(column.toString());
    return Array.isArray(values) && values.length === count ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Whether JSON has this byte of a text as it is. There is no backslash, and the end of the column is none. */
function isPlain(byte: number | undefined): byte is number {
  return byte !== undefined && (byte > QUOTE || byte === BLANK || byte === QUOTE - 1);
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

function isPosition(value: unknown, end: number): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < end;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

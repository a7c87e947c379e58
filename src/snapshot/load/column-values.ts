import { isUtf8 } from 'node:buffer';
import { encodeTexts, type Texts } from '../../store/index/texts.ts';
import type { Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';

/**
 * Decoders for the columns of a run, each a JSON array with one element for each record. A decoder returns undefined
 * when the column is not such an array of `count` elements.
 */

/** One text for each record. */
export interface TextValues {
  /** The distinct texts, in order of first occurrence; a writer may repeat some of them. */
  readonly texts: Texts;
  /** For each record, the position of its text in `texts`. */
  readonly textOf: Uint32s;
}

/** Decodes one text for each record. An element is a text, or the position of an earlier element with that text. */
export function readTexts(column: Buffer, count: number): TextValues | undefined {
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

/** A list of texts for each record. */
export interface Lists {
  /** The elements of all lists, record after record. */
  readonly texts: Texts;
  /** For each record, the length of its list. */
  readonly counts: Uint32s;
}

/** Decodes one list of texts for each record. */
export function readLists(column: Buffer, count: number): Lists | undefined {
  const lists = readArray(column, count);
  if (lists?.every(isListOfTexts) !== true) return undefined;
  return { texts: encodeTexts(lists.flat()), counts: Uint32Array.from(lists, ({ length }) => length) };
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

/** Decodes instants beyond 2^53, which the numbers of `JSON.parse` do not hold exactly, from their digits. */
function readLargeInstants(column: Buffer, count: number, target: Int64s, at: number): boolean {
  const digits = column.toString('latin1', 1, column.length - 1).split(',');
  if (!digits.every((number) => /^-?\d{1,19}$/.test(number))) return false;
  const instants = digits.map(BigInt);
  if (instants.length !== count || instants.some((instant) => instant !== BigInt.asIntN(64, instant)))
    return false;
  target.set(instants, at);
  return true;
}

const OPEN = 0x5b;
const CLOSE = 0x5d;

function readArray(column: Buffer, count: number): readonly unknown[] | undefined {
  // A JSON array may have white space around it, but a column has none.
  if (column.at(0) !== OPEN || column.at(-1) !== CLOSE || !isUtf8(column)) return undefined;
  try {
    const values: unknown = JSON.parse(column.toString());
    return Array.isArray(values) && values.length === count ? values : undefined;
  } catch {
    return undefined;
  }
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

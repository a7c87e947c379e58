import { isUtf8 } from 'node:buffer';
import type { Texts } from '../../store/index/texts.ts';
import type { Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';
import { BACKSLASH, COMMA, endOfText, QUOTE } from '../../store/records.ts';
import { parseJson } from '../format/json-values.ts';
import type { ColumnLayout } from '../format/layout.ts';

/** The values of a column in some rows: instants, a text each, or the texts of all lists, one after another. */
export type BlockColumn =
  | { readonly holds: 'instant'; readonly instants: Int64s }
  | { readonly holds: 'text'; readonly texts: Texts }
  /** `ends[i]` is the number of the texts up to row i. */
  | { readonly holds: 'list'; readonly texts: Texts; readonly ends: Uint32s };

const BLANK = 0x20;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/**
 * Decodes `[930,1790000000000000,"a",["b","c"]],…,`: for each row an array without white space of the length of its
 * record, the time of its change, its id and its index columns, and a comma.
 * Texts are not copied: one pass finds their bounds, where parsing and encoding them again takes 3.6 times as long.
 * @returns undefined when the bytes are not that; else also for each row where its id starts and ends, and where its last
 *   value ends
 */
export function decodeBlock(rows: Buffer, count: number, kinds: readonly ColumnLayout['holds'][]) {
  if (!isUtf8(rows)) return undefined;
  // Texts with escapes are decoded in place.
  const bytes = rows.includes(BACKSLASH) ? Buffer.from(rows) : rows;
  const changedAt = new BigInt64Array(count);
  const ids = newTexts(bytes, count);
  const columns = kinds.map((holds) => newColumn(bytes, count, holds));
  const [lengths, starts] = [new Uint32Array(count), new Uint32Array(count)];
  const [idEnds, ends] = [new Uint32Array(count), new Uint32Array(count)];
  // No function refers to `at`: V8 14.6 compiles such a loop wrongly in some threads.
  let at = 0;
  for (let row = 0; row < count; row++) {
    if (rows[at++] !== OPEN) return undefined;
    const first = at;
    for (; rows[at] >= DIGIT_0 && rows[at] <= DIGIT_9; at++)
      lengths[row] = lengths[row] * 10 + rows[at] - DIGIT_0;
    if (at === first || rows[at++] !== COMMA) return undefined;
    at = readInstant(changedAt, row, rows, at);
    if (rows[at++] !== COMMA) return undefined;
    starts[row] = at;
    at = readText(ids, row, at);
    idEnds[row] = at;
    for (const { read } of columns) {
      if (rows[at++] !== COMMA) return undefined;
      at = read(row, at);
    }
    ends[row] = at;
    if (rows[at++] !== CLOSE || rows[at++] !== COMMA) return undefined;
  }
  if (at !== rows.length) return undefined;
  return { lengths, changedAt, ids, columns: columns.map(({ finish }) => finish()), starts, idEnds, ends };
}

interface GrowingColumn {
  /** Reads the value of a row. Returns the offset behind it, or 0 when there is none. */
  readonly read: (row: number, at: number) => number;
  readonly finish: () => BlockColumn;
}

interface DecodedTexts extends Texts {
  readonly bytes: Buffer;
}

function newTexts(bytes: Buffer, count: number): DecodedTexts {
  return { bytes, starts: new Uint32Array(count), ends: new Uint32Array(count) };
}

function newColumn(bytes: Buffer, count: number, holds: ColumnLayout['holds']): GrowingColumn {
  if (holds === 'instant') {
    const instants = new BigInt64Array(count);
    return { read: (row, at) => readInstant(instants, row, bytes, at), finish: () => ({ holds, instants }) };
  }
  const texts = newTexts(bytes, count);
  if (holds === 'text')
    return { read: (row, at) => readText(texts, row, at), finish: () => ({ holds, texts }) };
  return newListColumn(texts, count);
}

function newListColumn(texts: DecodedTexts, count: number): GrowingColumn {
  const { bytes } = texts;
  const ends = new Uint32Array(count);
  let found = 0;
  const read = (row: number, from: number) => {
    let at = from;
    if (bytes[at++] !== OPEN) return 0;
    if (bytes[at] === CLOSE) at++;
    else {
      do {
        if (found === texts.starts.length) texts = resized(texts, found * 2);
        at = readText(texts, found++, at);
      } while (bytes[at++] === COMMA);
      if (bytes[at - 1] !== CLOSE) return 0;
    }
    ends[row] = found;
    return at;
  };
  return { read, finish: () => ({ holds: 'list', texts: resized(texts, found), ends }) };
}

function resized({ bytes, starts, ends }: DecodedTexts, count: number): DecodedTexts {
  const texts = newTexts(bytes, count);
  texts.starts.set(starts.subarray(0, count));
  texts.ends.set(ends.subarray(0, count));
  return texts;
}

const MAX_DIGITS = 19;

/** Reads the whole number at `at` as instant `i`. Returns the offset behind it, or 0 when there is none. */
function readInstant(instants: Int64s, i: number, bytes: Buffer, at: number): number {
  const first = bytes[at] === MINUS ? at + 1 : at;
  let end = first;
  let number = 0;
  for (; bytes[end] >= DIGIT_0 && bytes[end] <= DIGIT_9; end++) number = number * 10 + bytes[end] - DIGIT_0;
  const digits = end - first;
  if (digits === 0 || digits > MAX_DIGITS) return 0;
  const isSafe = number <= Number.MAX_SAFE_INTEGER && first === at;
  instants[i] = BigInt(isSafe ? number : bytes.toString('latin1', at, end));
  return end;
}

/** Reads the quoted text at `at` as text `i`. Returns the offset behind its closing quote, or 0 when there is no text. */
function readText({ bytes, starts, ends }: DecodedTexts, i: number, at: number): number {
  if (bytes[at] !== QUOTE) return 0;
  let end = at + 1;
  while (bytes[end] >= BLANK && bytes[end] !== QUOTE && bytes[end] !== BACKSLASH) end++;
  if (bytes[end] === BACKSLASH) {
    // Decodes a text with escapes in its place. It takes fewer bytes there.
    const quote = endOfText(bytes, at + 1);
    const text = parseJson(bytes.toString('utf8', at, quote + 1));
    if (typeof text !== 'string' || !text.isWellFormed()) return 0;
    starts[i] = at + 1;
    ends[i] = starts[i] + bytes.write(text, starts[i]);
    return quote + 1;
  }
  if (bytes[end] !== QUOTE) return 0;
  starts[i] = at + 1;
  ends[i] = end;
  return end + 1;
}

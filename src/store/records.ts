import {
  type Bytes,
  type Floats,
  type Row,
  sharedBytes,
  sharedFloats,
  type Uint32s,
} from './memory/shared-arrays.ts';

export const COMMA = 0x2c;
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Records as JSON text, in list order, each followed by a comma:
 *
 *     bytes     {"ticketId":"a",…},{"ticketId":"b",…},…,
 *     offsets   ^0                 ^1                  ^count      (doubles: the bytes may exceed 4 GiB)
 *
 * So the bytes of any span, without the last comma, are the elements of a JSON array.
 */
export interface RecordsImage {
  readonly bytes: Bytes;
  readonly offsets: Floats;
}

export function recordsImage(texts: readonly string[]): RecordsImage {
  const offsets = sharedFloats(texts.length + 1);
  for (const [i, text] of texts.entries()) offsets[i + 1] = offsets[i] + Buffer.byteLength(text) + 1;
  const bytes = sharedBytes(offsets[texts.length]);
  const target = viewOf(bytes, 0, bytes.length);
  for (const [i, text] of texts.entries()) target.write(`${text},`, offsets[i]);
  return { bytes, offsets };
}

/** Returns the JSON text of one record, as a view of the image. */
export function recordAt(records: RecordsImage, row: Row): Buffer {
  return recordSpan(records, row, row + 1);
}

/** Returns the rows `from … to` as JSON texts, joined by commas. They are one view of the image. */
export function recordSpan({ bytes, offsets }: RecordsImage, from: Row, to: Row): Buffer {
  return viewOf(bytes, offsets[from], offsets[to] - 1);
}

/** Returns ascending rows as JSON texts, joined by commas. Each span of consecutive rows is one view. */
export function recordsAt({ bytes, offsets }: RecordsImage, rows: Uint32s): Buffer[] {
  const views: Buffer[] = [];
  const last = rows.length - 1;
  for (let i = 0, from = 0; i <= last; i++) {
    if (i < last && rows[i + 1] === rows[i] + 1) continue;
    const end = offsets[rows[i] + 1];
    views.push(viewOf(bytes, offsets[rows[from]], i < last ? end : end - 1));
    from = i + 1;
  }
  return views;
}

function viewOf({ buffer, byteOffset }: Bytes, start: number, end: number): Buffer {
  return Buffer.from(buffer, byteOffset + start, end - start);
}

/** Returns the beginning of every record of a collection, `{"ticketId":`. */
export function recordPrefix(firstField: string): string {
  return `{${JSON.stringify(firstField)}:`;
}

/** Returns the first value of a stored record as JSON: a view of its bytes. */
export function firstValueOf(record: Buffer): Buffer {
  const start = record.indexOf(COLON) + 1;
  return record.subarray(start, endOfText(record, start + 1) + 1);
}

/** Returns the position of the quote that ends the text that begins at `start`. */
export function endOfText(bytes: Bytes, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

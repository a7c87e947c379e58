import type { Bytes, Row, Uint32s } from './memory/shared-arrays.ts';

export const COMMA = 0x2c;
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Shared memory with records of a list of an organization, each as JSON text with a comma after it:
 *
 *     {"ticketId":"a",…},{"ticketId":"b",…},…,
 */
export interface Slab {
  /** Identifies the memory in this process; 0 in an image that shares none. */
  readonly number: number;
  readonly bytes: Bytes;
}

/**
 * The records of a list in its order. The images of several snapshots share slabs. A slab is freed when all images that
 * refer to it are collected, in all threads:
 *
 *     image of snapshot 1:  row 0 1 2 …  ─▶  slab x y z …  ◀─  row 0 1 2 …  :image of snapshot 2
 */
export interface RecordsImage {
  /** Those that have a record of the image. */
  readonly slabs: readonly Slab[];
  /** By row: the position of its slab, its start and its end there. The end is behind the comma. */
  readonly places: Uint32s;
  /** Whether images of other snapshots may refer to the slabs. */
  readonly isShared: boolean;
}

/** Elements of a place. */
export const PLACE = 3;

/** Returns the JSON text of one record, as a view of the image. */
export function recordAt({ slabs, places }: RecordsImage, row: Row): Buffer {
  const at = row * PLACE;
  return viewOf(slabs[places[at]].bytes, places[at + 1], places[at + 2] - 1);
}

/** Returns the length of a record with the comma after it. */
export function lengthAt({ places }: RecordsImage, row: Row): number {
  const at = row * PLACE;
  return places[at + 2] - places[at + 1];
}

/** Returns whether the record of a row has these bytes. */
export function isRecord(
  { slabs, places }: RecordsImage,
  row: Row,
  source: Buffer,
  start: number,
  end: number,
): boolean {
  const at = row * PLACE;
  if (places[at + 2] - 1 - places[at + 1] !== end - start) return false;
  return source.compare(slabs[places[at]].bytes, places[at + 1], places[at + 2] - 1, start, end) === 0;
}

/** Returns the rows `from … to` as JSON texts, joined by commas. Rows that are adjacent in a slab are one view. */
export function recordSpan(records: RecordsImage, from: Row, to: Row): Buffer[] {
  const views: Buffer[] = [];
  if (from < to) addSpan(views, records, from, to, true);
  return views;
}

/** Returns ascending rows as JSON texts, joined by commas. Consecutive rows that are adjacent in a slab are one view. */
export function recordsAt(records: RecordsImage, rows: Uint32s): Buffer[] {
  const views: Buffer[] = [];
  const last = rows.length - 1;
  for (let i = 0, from = 0; i <= last; i++) {
    if (i < last && rows[i + 1] === rows[i] + 1) continue;
    addSpan(views, records, rows[from], rows[i] + 1, i === last);
    from = i + 1;
  }
  return views;
}

/** Adds the views of rows, the last one without its last comma if it `isLast`. */
function addSpan(
  views: Buffer[],
  { slabs, places }: RecordsImage,
  from: Row,
  to: Row,
  isLast: boolean,
): void {
  let at = from * PLACE;
  let slab = places[at];
  let start = places[at + 1];
  let end = places[at + 2];
  for (let row = from + 1; row < to; row++) {
    at = row * PLACE;
    if (places[at] !== slab || places[at + 1] !== end) {
      views.push(viewOf(slabs[slab].bytes, start, end));
      slab = places[at];
      start = places[at + 1];
    }
    end = places[at + 2];
  }
  views.push(viewOf(slabs[slab].bytes, start, end - (isLast ? 1 : 0)));
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

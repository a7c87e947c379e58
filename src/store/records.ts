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
  /** Identifies the memory in this process; 0 in the memory of a single image. */
  readonly number: number;
  readonly bytes: Bytes;
}

/**
 * Places of the records of a list in memory. The images of several snapshots share them, and each has the slabs of its
 * own records. This memory is freed when all that refers to it is collected, in all threads.
 */
export interface RecordTable {
  /** As that of a slab. */
  readonly number: number;
  readonly slabs: readonly Slab[];
  /** By record: its slab, its start and its end there. The end is behind the comma. */
  readonly places: Uint32s;
}

/** Elements of a place. */
export const PLACE = 3;

/** The records of a list in its order, each by its number in the table. */
export interface RecordsImage {
  readonly table: RecordTable;
  readonly numbers: Uint32s;
}

export function isShared(part: object): part is RecordTable {
  return 'places' in part && 'number' in part && part.number !== 0;
}

/** Returns the JSON text of one record, as a view of the image. */
export function recordAt({ table: { slabs, places }, numbers }: RecordsImage, row: Row): Buffer {
  const at = numbers[row] * PLACE;
  return viewOf(slabs[places[at]].bytes, places[at + 1], places[at + 2] - 1);
}

/** Returns the length of a record with the comma after it. */
export function lengthAt({ table: { places }, numbers }: RecordsImage, row: Row): number {
  const at = numbers[row] * PLACE;
  return places[at + 2] - places[at + 1];
}

/** Returns whether the record of a row has these bytes. */
export function isRecord(
  { table: { slabs, places }, numbers }: RecordsImage,
  row: Row,
  source: Buffer,
  start: number,
  end: number,
): boolean {
  const at = numbers[row] * PLACE;
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
  { table: { slabs, places }, numbers }: RecordsImage,
  from: Row,
  to: Row,
  isLast: boolean,
): void {
  let at = numbers[from] * PLACE;
  let slab = places[at];
  let start = places[at + 1];
  let end = places[at + 2];
  for (let row = from + 1; row < to; row++) {
    at = numbers[row] * PLACE;
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

import { FLOAT_BYTES } from './shared.ts';
import type { Bytes, Floats, Row } from './shared.ts';

/**
 * Records as JSON text, in list order, each followed by a comma:
 *
 *     bytes     {"ticketId":"a",…},{"ticketId":"b",…},…,
 *     offsets   ^0                 ^1                  ^count      (doubles, since a store may pass 4 GiB)
 *
 * so that any run of rows is one slice that stands in a JSON array as it is.
 */
export interface RecordsImage {
  readonly bytes: Bytes;
  readonly offsets: Floats;
}

export const COMMA = 0x2c;

/** Bytes of the image of `count` records whose JSON texts have `textBytes` together. */
export function recordsBytes(count: number, textBytes: number): number {
  return textBytes + count + (count + 1) * FLOAT_BYTES;
}

/** The JSON text of one record. */
export function recordAt({ bytes, offsets }: RecordsImage, row: Row): Bytes {
  return bytes.subarray(offsets[row], offsets[row + 1] - 1);
}

/** The JSON texts of the rows `from … to`, joined by commas. */
export function recordRun({ bytes, offsets }: RecordsImage, from: Row, to: Row): Bytes {
  return bytes.subarray(offsets[from], offsets[to] - 1);
}

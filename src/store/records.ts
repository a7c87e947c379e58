import { FLOAT_BYTES } from './shared.ts';
import type { Bytes, Floats, Row, Uint32s } from './shared.ts';
import type { Slice } from './slice.ts';

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
export function recordAt({ bytes, offsets }: RecordsImage, row: Row): Slice {
  return { bytes, start: offsets[row], end: offsets[row + 1] - 1 };
}

/** The JSON texts of the rows `from … to`, joined by commas. */
export function recordRun({ bytes, offsets }: RecordsImage, from: Row, to: Row): Slice {
  return { bytes, start: offsets[from], end: offsets[to] - 1 };
}

/** The JSON texts of ascending rows, joined by commas: a slice for each run of rows that follow each other. */
export function recordsAt({ bytes, offsets }: RecordsImage, rows: Uint32s): Slice[] {
  const slices: Slice[] = [];
  const last = rows.length - 1;
  for (let i = 0, from = 0; i <= last; i++) {
    if (i < last && rows[i + 1] === rows[i] + 1) continue;
    const end = offsets[rows[i] + 1];
    slices.push({ bytes, start: offsets[rows[from]], end: i < last ? end : end - 1 });
    from = i + 1;
  }
  return slices;
}

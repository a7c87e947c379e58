import { type Bytes, FLOAT_BYTES, type Floats, type Row, type Uint32s } from './memory/shared-arrays.ts';

/**
 * Records as JSON text, in list order, each followed by a comma:
 *
 *     bytes     {"ticketId":"a",…},{"ticketId":"b",…},…,
 *     offsets   ^0                 ^1                  ^count      (doubles, since a store may pass 4 GiB)
 *
 * so that any run of rows is one stretch that stands in a JSON array as it is.
 */
export interface RecordsImage {
  readonly bytes: Bytes;
  readonly offsets: Floats;
}

/** Records as a thread reads them: an image, its bytes as a Buffer over the same memory. */
export interface Records {
  readonly bytes: Buffer;
  readonly offsets: Floats;
}

export function openRecords({ bytes, offsets }: RecordsImage): Records {
  return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), offsets };
}

export const COMMA = 0x2c;

/** Bytes of the image of `count` records whose JSON texts have `textBytes` together. */
export function recordsBytes(count: number, textBytes: number): number {
  return textBytes + count + (count + 1) * FLOAT_BYTES;
}

/** Returns the JSON text of one record, a view of the store's own bytes. */
export function recordAt({ bytes, offsets }: Records, row: Row): Buffer {
  return bytes.subarray(offsets[row], offsets[row + 1] - 1);
}

/** Returns the JSON texts of the rows `from … to`, joined by commas. */
export function recordSpan({ bytes, offsets }: Records, from: Row, to: Row): Buffer {
  return bytes.subarray(offsets[from], offsets[to] - 1);
}

/** Returns the JSON texts of ascending rows, joined by commas: a view for each run of neighbours. */
export function recordsAt({ bytes, offsets }: Records, rows: Uint32s): Buffer[] {
  const views: Buffer[] = [];
  const last = rows.length - 1;
  for (let i = 0, from = 0; i <= last; i++) {
    if (i < last && rows[i + 1] === rows[i] + 1) continue;
    const end = offsets[rows[i] + 1];
    views.push(bytes.subarray(offsets[rows[from]], i < last ? end : end - 1));
    from = i + 1;
  }
  return views;
}

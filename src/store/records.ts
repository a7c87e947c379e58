import { FLOAT_BYTES } from './shared.ts';
import type { Bytes, Floats, Row, Uint32s } from './shared.ts';

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

/** The JSON texts of ascending rows, joined by commas: a view when they follow each other, else a copy. */
export function recordsAt(records: RecordsImage, rows: Uint32s): Bytes {
  const runs = runsOf(rows);
  if (runs.length === 1) return recordRun(records, ...runs[0]);
  const { bytes, offsets } = records;
  const length = runs.reduce((sum, [from, to]) => sum + offsets[to] - offsets[from], 0);
  const text = Buffer.allocUnsafe(length);
  let at = 0;
  for (const [from, to] of runs) {
    text.set(bytes.subarray(offsets[from], offsets[to]), at);
    at += offsets[to] - offsets[from];
  }
  // But for the comma after the last one.
  return text.subarray(0, length - 1);
}

/** Rows that follow each other, from the first up to the one behind the last. */
type Run = readonly [from: Row, to: Row];

function runsOf(rows: Uint32s): readonly Run[] {
  const runs: [from: Row, to: Row][] = [];
  for (const row of rows) {
    const last = runs.at(-1);
    if (last?.[1] === row) last[1]++;
    else runs.push([row, row + 1]);
  }
  return runs;
}

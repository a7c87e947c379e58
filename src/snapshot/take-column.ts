import type { Int64s } from '../store/shared.ts';
import { eachValue, readBigInt, readNumber } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { RefusalReason } from './refused-snapshot.ts';

/** Reads a column of instants into `instants`, by row. */
export function takeInstants(chunk: Chunk, column: string, instants: Int64s): void {
  eachValue(chunk, column, (bytes, start, end, row) => {
    instants[row] = readBigInt(bytes, start, end);
  });
}

/**
 * Reads a column of rows of a table that has `count` into `rows`, whose first element is row `base` of the chunk's.
 * @param reason for which the snapshot is refused when a row is not there
 */
export function takeRows(
  chunk: Chunk,
  column: string,
  count: number,
  rows: Uint32Array,
  base: number,
  reason: RefusalReason = 'inconsistent',
): void {
  eachValue(chunk, column, (bytes, start, end, row) => {
    const value = readNumber(bytes, start, end);
    if (!(value >= 0 && value < count))
      throw new RefusedSnapshot(reason, `${column} names a row that is not there`);
    rows[row - base] = value;
  });
}

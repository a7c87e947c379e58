import type { Int64s } from '../store/shared.ts';
import { integersOf } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { RefusalReason } from './refused-snapshot.ts';

/** Reads a column of instants into `instants`, by row. */
export function takeInstants(chunk: Chunk, column: string, instants: Int64s): void {
  instants.set(integersOf(chunk, column), chunk.firstRow);
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
  const integers = integersOf(chunk, column);
  for (let i = 0; i < integers.length; i++) {
    const value = Number(integers[i]);
    if (!(value >= 0 && value < count))
      throw new RefusedSnapshot(reason, `${column} names a row that is not there`);
    rows[chunk.firstRow + i - base] = value;
  }
}

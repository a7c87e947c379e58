import { RefusedSnapshot } from './refused-snapshot.ts';

/** Where the last number that was read ended. */
export const varint = { end: 0 };

/**
 * A number of SQLite's, of 1 to 9 bytes (https://www.sqlite.org/fileformat2.html#varint). Beyond 2^53, and below 0, it is
 * inexact: no such number is one that a sound snapshot has there.
 * @throws RefusedSnapshot when it goes beyond `end`
 */
export function readVarint(bytes: Buffer, start: number, end: number): number {
  let at = start;
  let value = 0;
  for (let i = 0; i < 9; i++) {
    if (at >= end) throw damaged();
    const byte = bytes[at++];
    if (i === 8) value = value * 256 + byte;
    else value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  varint.end = at;
  return value;
}

export function damaged(): RefusedSnapshot {
  return new RefusedSnapshot(
    'damaged',
    'its pages contradict each other: the file is damaged; copy or build it again',
  );
}

import { type Row, sharedUint32s, type Uint32s } from '../memory/shared-arrays.ts';
import { firstValueOf, isRecord, PLACE, recordAt, recordPrefix, type RecordsImage } from '../records.ts';
import { sameBytes } from './key-table.ts';
import { hashBytes, slotCount } from './texts.ts';

/**
 * Maps record ids to rows. The index holds no ids: every record begins with its id (`{"ticketId":"…"`), and a look-up
 * compares it there.
 *
 *     slots    open addressing, linear probing: row + 1, or 0 when free
 *     hashes   by row: the hash of its id
 */
export interface IdIndexImage {
  readonly slots: Uint32s;
  readonly hashes: Uint32s;
  /** Length of the prefix of every record, `{"ticketId":`. */
  readonly prefixLength: number;
}

/** Returns an index for a number of rows, which has none of them yet. */
export function newIdIndex(count: number, idField: string): IdIndexImage {
  return {
    slots: sharedUint32s(slotCount(count)),
    hashes: sharedUint32s(count),
    prefixLength: recordPrefix(idField).length,
  };
}

/**
 * Adds the rows `from … to`, whose hashes are set, to an index that has those before them.
 * @returns the first row whose id an earlier row has
 */
export function addIds(
  { slots, hashes }: IdIndexImage,
  records: RecordsImage,
  from: Row,
  to: Row,
): Row | undefined {
  const mask = slots.length - 1;
  for (let row = from; row < to; row++) {
    let slot = hashes[row] & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const other = slots[slot] - 1;
      // The hashes distinguish most ids without reading a record.
      if (hashes[other] === hashes[row] && sameId(records, other, row)) return row;
    }
    slots[slot] = row + 1;
  }
  return undefined;
}

function sameId(records: RecordsImage, a: Row, b: Row): boolean {
  return firstValueOf(recordAt(records, a)).equals(firstValueOf(recordAt(records, b)));
}

/** Returns the row of the record with an id, or -1. */
export function findRow(
  { slots, prefixLength }: IdIndexImage,
  { slabs, places }: RecordsImage,
  id: string,
): Row {
  const json = Buffer.from(JSON.stringify(id));
  const key = Buffer.from(id);
  const mask = slots.length - 1;
  for (let slot = hashBytes(key) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const row = slots[slot] - 1;
    const at = row * PLACE;
    const start = places[at + 1] + prefixLength;
    if (sameBytes(slabs[places[at]].bytes, start, start + json.length, json, 0, json.length)) return row;
  }
  return -1;
}

/**
 * Returns the row of a record with these bytes, or -1.
 * @param hash of its id
 */
export function findRecord(
  { slots, hashes }: IdIndexImage,
  records: RecordsImage,
  hash: number,
  source: Buffer,
  start: number,
  end: number,
): Row {
  const mask = slots.length - 1;
  for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const row = slots[slot] - 1;
    if (hashes[row] === hash && isRecord(records, row, source, start, end)) return row;
  }
  return -1;
}

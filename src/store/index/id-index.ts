import { type Row, sharedUint32s, type Uint32s } from '../memory/shared-arrays.ts';
import { firstValueOf, recordAt, recordPrefix, type RecordsImage } from '../records.ts';
import { sameBytes } from './key-table.ts';
import { hashBytes, slotCount } from './texts.ts';

/**
 * Maps record ids to rows. The index holds no ids: every record begins with its id (`{"ticketId":"…"`), and a look-up
 * compares it there.
 *
 *     slots   open addressing, linear probing: row + 1, or 0 when free
 */
export interface IdIndexImage {
  readonly slots: Uint32s;
  /** Length of the prefix of every record, `{"ticketId":`. */
  readonly prefixLength: number;
}

/** Returns an index for a number of rows, which has none of them yet. */
export function newIdIndex(count: number, idField: string): IdIndexImage {
  return { slots: sharedUint32s(slotCount(count)), prefixLength: recordPrefix(idField).length };
}

/**
 * Adds the rows of a run to an index that has those of the runs before it.
 * @returns the first row whose id an earlier row has
 */
export function addIds({ slots }: IdIndexImage, records: RecordsImage, run: number): Row | undefined {
  const { runs, firstRows, runOf } = records;
  const { idHashes } = runs[run];
  const mask = slots.length - 1;
  for (let i = 0; i < idHashes.length; i++) {
    const row = firstRows[run] + i;
    let slot = idHashes[i] & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const other = slots[slot] - 1;
      const hash = runs[runOf[other]].idHashes[other - firstRows[runOf[other]]];
      // The hashes distinguish most ids without reading a record.
      if (hash === idHashes[i] && sameId(records, other, row)) return row;
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
  { runs, firstRows, runOf }: RecordsImage,
  id: string,
): Row {
  const json = Buffer.from(JSON.stringify(id));
  const key = Buffer.from(id);
  const mask = slots.length - 1;
  for (let slot = hashBytes(key) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const row = slots[slot] - 1;
    const { bytes, offsets } = runs[runOf[row]];
    const start = offsets[row - firstRows[runOf[row]]] + prefixLength;
    if (sameBytes(bytes, start, start + json.length, json, 0, json.length)) return row;
  }
  return -1;
}

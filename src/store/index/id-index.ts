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

export class IdIndexBuilder {
  /** Has the rows that were added. */
  readonly image: IdIndexImage;
  /** By row. Distinguishes most ids without reading a record. */
  readonly #hashes: Uint32s;

  constructor(count: number, idField: string) {
    this.image = { slots: sharedUint32s(slotCount(count)), prefixLength: recordPrefix(idField).length };
    this.#hashes = new Uint32Array(count);
  }

  /**
   * Adds the rows from `firstRow` on, by the hashes of their ids. Their records must be in place.
   * @returns the first row whose id an earlier row has
   */
  addEach(records: RecordsImage, firstRow: Row, hashes: Uint32s): number | undefined {
    const { slots } = this.image;
    const known = this.#hashes;
    const mask = slots.length - 1;
    for (let i = 0; i < hashes.length; i++) {
      const row = firstRow + i;
      const hash = hashes[i];
      known[row] = hash;
      let slot = hash & mask;
      for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const other = slots[slot] - 1;
        if (known[other] === hash && sameId(records, other, row)) return row;
      }
      slots[slot] = row + 1;
    }
    return undefined;
  }
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

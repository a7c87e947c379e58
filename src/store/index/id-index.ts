import { type Row, sharedUint32s, type Uint32s } from '../memory/shared-arrays.ts';
import type { RecordsImage } from '../records.ts';
import { sameBytes } from './key-table.ts';
import { hashBytes, slotCount, type Texts } from './texts.ts';

/**
 * From the id of a record to its row. It holds no ids: every record begins with its own (`{"ticketId":"…"`),
 * and a candidate is compared there.
 *
 *     slots   open addressing, linear probing: row + 1, or 0 when free
 */
export interface IdIndexImage {
  readonly slots: Uint32s;
  /** Length of what stands before the id in every record, `{"ticketId":`. */
  readonly prefixLength: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class IdIndexBuilder {
  readonly #slots: Uint32s;
  readonly #prefixLength: number;
  /** By row: another id in its slot is told apart by its hash, without a look at its record. */
  readonly #hashes: Uint32s;

  constructor(count: number, idField: string) {
    this.#slots = sharedUint32s(slotCount(count));
    this.#prefixLength = recordPrefix(idField).length;
    this.#hashes = new Uint32Array(count);
  }

  /**
   * Adds the ids of the rows from `firstRow` on, whose records are there.
   * @returns the first of them that another row has already, counted from `firstRow`
   */
  addEach(records: RecordsImage, firstRow: Row, { hashes }: Texts): number | undefined {
    const [slots, known] = [this.#slots, this.#hashes];
    const mask = slots.length - 1;
    known.set(hashes, firstRow);
    const isTaken = this.#lookUp(hashes);
    for (let i = 0; i < hashes.length; i++) {
      const row = firstRow + i;
      let slot = (hashes[i] + isTaken[i]) & mask;
      for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const other = slots[slot] - 1;
        if (known[other] === hashes[i] && this.#sameId(records, other, row)) return i;
      }
      slots[slot] = row + 1;
    }
    return undefined;
  }

  /**
   * Returns 1 for each hash whose first slot another hash has, else 0. As in a key table, the slots are read for all ids
   * first, and so are the hashes there, since these reads do not wait for each other.
   */
  #lookUp(hashes: Uint32s): Uint32s {
    const [slots, known] = [this.#slots, this.#hashes];
    const mask = slots.length - 1;
    const found = new Uint32Array(hashes.length);
    for (let i = 0; i < found.length; i++) found[i] = slots[hashes[i] & mask];
    for (let i = 0; i < found.length; i++) {
      found[i] = found[i] > 0 && known[found[i] - 1] !== hashes[i] ? 1 : 0;
    }
    return found;
  }

  finish(): IdIndexImage {
    return { slots: this.#slots, prefixLength: this.#prefixLength };
  }

  #sameId({ bytes, offsets }: RecordsImage, a: Row, b: Row): boolean {
    let i = offsets[a] + this.#prefixLength + 1;
    let j = offsets[b] + this.#prefixLength + 1;
    for (; bytes[i] === bytes[j]; i++, j++) {
      if (bytes[i] === QUOTE) return true;
      if (bytes[i] === BACKSLASH && bytes[++i] !== bytes[++j]) return false;
    }
    return false;
  }
}

/** What every record of a collection begins with. */
export function recordPrefix(idField: string): string {
  return `{${JSON.stringify(idField)}:`;
}

/** The row of the record with this id, or -1. */
export function findRow(index: IdIndexImage, { bytes, offsets }: RecordsImage, id: string): Row {
  const json = Buffer.from(JSON.stringify(id));
  const key = Buffer.from(id);
  const mask = index.slots.length - 1;
  let slot = hashBytes(key, 0, key.length) & mask;
  for (;;) {
    const entry = index.slots[slot];
    if (entry === 0) return -1;
    const start = offsets[entry - 1] + index.prefixLength;
    if (sameBytes(bytes, start, start + json.length, json, 0, json.length)) return entry - 1;
    slot = (slot + 1) & mask;
  }
}

import { hashBytes, slotCount } from './hash.ts';
import { sharedUint32s, UINT32_BYTES } from './shared.ts';
import type { Bytes, Row, Uint32s } from './shared.ts';
import { sameBytes } from './key-table.ts';
import type { RecordsImage } from './records.ts';

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

/** Bytes of the image for `count` records. */
export function idIndexBytes(count: number): number {
  return slotCount(count) * UINT32_BYTES;
}

export class IdIndexBuilder {
  readonly #slots: Uint32s;
  readonly #prefixLength: number;

  constructor(count: number, idField: string) {
    this.#slots = sharedUint32s(slotCount(count));
    this.#prefixLength = recordPrefix(idField).length;
  }

  /** Adds the id of `row`, UTF-8 in `source[start … end]`. Returns the row that already has it, or -1. */
  add(records: RecordsImage, row: Row, source: Bytes, start: number, end: number): Row {
    const mask = this.#slots.length - 1;
    let slot = hashBytes(source, start, end) & mask;
    for (;;) {
      const entry = this.#slots[slot];
      if (entry === 0) break;
      if (this.#sameId(records, entry - 1, row)) return entry - 1;
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = row + 1;
    return -1;
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

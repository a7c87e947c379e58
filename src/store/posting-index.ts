import { findKey, KeyTableBuilder, keyTableBuilderBytes, keyTableBytes } from './key-table.ts';
import type { KeyTableImage } from './key-table.ts';
import { sharedUint32s, UINT32_BYTES } from './shared.ts';
import type { Bytes, Row, Uint32s } from './shared.ts';

/**
 * For every key the rows that have it, ascending: its posting list.
 *
 *     keys     the keys, numbered
 *     starts   starts[k] … starts[k + 1] is the posting list of key k in …
 *     rows     the posting lists, one after the other
 */
export interface PostingImage {
  readonly keys: KeyTableImage;
  readonly starts: Uint32s;
  readonly rows: Uint32s;
}

/** Bytes of the image of `pairs` pairs of row and key, of `keys` keys that have `textBytes` together. */
export function postingIndexBytes(pairs: number, keys: number, textBytes: number): number {
  return keyTableBytes(keys, textBytes) + (keys + 1 + pairs) * UINT32_BYTES;
}

/** The most that a builder of the same has beside it. */
export function postingBuilderBytes(pairs: number, keys: number, textBytes: number): number {
  return keyTableBuilderBytes(keys, textBytes) + (2 * pairs + keys + 1) * UINT32_BYTES;
}

export class PostingIndexBuilder {
  readonly #keys = new KeyTableBuilder();
  #keyOf: Uint32s;
  #rowOf: Uint32s;
  #count = 0;

  /** `capacity`: how many pairs of row and key will be added. */
  constructor(capacity: number) {
    this.#keyOf = new Uint32Array(capacity);
    this.#rowOf = new Uint32Array(capacity);
  }

  /** Adds a pair of row and key; rows must not descend, and a pair must come once. */
  add(row: Row, source: Bytes, start: number, end: number): void {
    this.#keyOf[this.#count] = this.#keys.intern(source, start, end);
    this.#rowOf[this.#count++] = row;
  }

  finish(): PostingImage {
    const starts = sharedUint32s(this.#keys.count + 1);
    for (let i = 0; i < this.#count; i++) starts[this.#keyOf[i] + 1]++;
    for (let key = 0; key < this.#keys.count; key++) starts[key + 1] += starts[key];
    const next = starts.slice();
    const rows = sharedUint32s(this.#count);
    for (let i = 0; i < this.#count; i++) rows[next[this.#keyOf[i]]++] = this.#rowOf[i];
    return { keys: this.#keys.finish(), starts, rows };
  }
}

const NO_ROWS: Uint32s = new Uint32Array(0);

/** The rows that have a key, ascending. */
export function postingList(index: PostingImage, key: string): Uint32s {
  const found = findKey(index.keys, Buffer.from(key));
  return found < 0 ? NO_ROWS : index.rows.subarray(index.starts[found], index.starts[found + 1]);
}

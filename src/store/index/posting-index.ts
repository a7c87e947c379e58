import { type Bytes, type Row, UINT32_BYTES, type Uint32s } from '../memory/shared-arrays.ts';
import { findKey, KeyTableBuilder, type KeyTableImage } from './key-table.ts';
import { buildPostingsByInstant, type PostingsByInstant } from './postings-by-instant.ts';
import { countStarts, valuesByKey } from './row-sets.ts';
import type { Texts } from './texts.ts';

/**
 * For every key its posting list: the rows that have it, ascending.
 *
 *     keys     the keys, numbered
 *     starts   the posting list of key k is rows[starts[k] … starts[k + 1]]
 *     rows     the posting lists, one after another
 */
export interface PostingImage {
  readonly keys: KeyTableImage;
  readonly starts: Uint32s;
  readonly rows: Uint32s;
  /** The same lists in the order of an instant; present when one of them is long. */
  readonly byInstant?: PostingsByInstant;
}

/** Share of the used keys that the others may reach in an index that continues another one … */
const MAX_UNUSED = 1 / 8;
/** … or their number. */
const LEAST_UNUSED = 64;

/** Lists up to this length need no wavelet matrix: a scan reads all of their rows. */
const LONG_LIST = 128;

export class PostingIndexBuilder {
  readonly #keys: KeyTableBuilder;
  /** The pairs of key and row. */
  #keyOf: Uint32s;
  #rowOf: Uint32s;
  #count = 0;

  /**
   * @param pairs expected number of pairs
   * @param rowOf buffer for the rows of the pairs; indexes whose pairs have the same rows may share one
   * @param keys has numbers of keys already
   */
  constructor(pairs = 0, rowOf: Uint32s = new Uint32Array(pairs), keys = new KeyTableBuilder()) {
    this.#keys = keys;
    this.#keyOf = new Uint32Array(pairs);
    this.#rowOf = rowOf;
  }

  /** Adds the rows from `firstRow` on, in order, with one key each. */
  addEach(firstRow: Row, keys: Texts): void {
    const count = keys.ends.length;
    this.#reserve(count);
    this.#keys.internEach(keys, this.#keyOf.subarray(this.#count));
    for (let i = 0; i < count; i++) this.#rowOf[this.#count++] = firstRow + i;
  }

  /**
   * Adds the rows from `firstRow` on, in order, with any number of keys each.
   * @param keys the keys of the first row, then those of the second, …
   * @param ends by row: number of the keys up to it
   */
  addLists(firstRow: Row, keys: Texts, ends: Uint32s): void {
    this.#reserve(keys.ends.length);
    this.#keys.internEach(keys, this.#keyOf.subarray(this.#count));
    for (let i = 0, key = 0; i < ends.length; i++)
      for (; key < ends[i]; key++) this.#rowOf[this.#count++] = firstRow + i;
  }

  /**
   * Adds all rows of a list that continues another one, whose keys this index has.
   * @param origins by row: the row in the other list, or a negative number
   * @param textsOf returns the keys of a row that has a negative origin
   */
  addContinued(
    origins: Int32Array,
    { firsts, keys }: KeysByRow,
    textsOf: (origin: number) => readonly string[],
  ): void {
    for (let row = 0; row < origins.length; row++) {
      const origin = origins[row];
      if (origin >= 0) {
        this.#reserve(firsts[origin + 1] - firsts[origin]);
        for (let i = firsts[origin]; i < firsts[origin + 1]; i++) this.#add(row, keys[i]);
        continue;
      }
      const texts = textsOf(origin).map((text) => Buffer.from(text));
      this.#reserve(texts.length);
      for (const key of texts) this.#add(row, this.#keys.intern(key, 0, key.length));
    }
  }

  #add(row: Row, number: number): void {
    this.#keyOf[this.#count] = number;
    this.#rowOf[this.#count++] = row;
  }

  /** Returns this index, or, if it has many keys without a row, one that has only the others. */
  withoutUnusedKeys(): PostingIndexBuilder {
    const isUsed = new Uint8Array(this.#keys.count);
    let used = 0;
    for (const key of this.#keyOf.subarray(0, this.#count)) {
      if (isUsed[key] === 0) used++;
      isUsed[key] = 1;
    }
    if (this.#keys.count - used <= Math.max(used * MAX_UNUSED, LEAST_UNUSED)) return this;
    const compact = new PostingIndexBuilder(this.#count, this.#rowOf);
    const numbers = new Uint32Array(this.#keys.count);
    for (let i = 0; i < this.#count; i++) {
      const key = this.#keyOf[i];
      if (isUsed[key] === 1) {
        const bytes = this.#keys.key(key);
        numbers[key] = compact.#keys.intern(bytes, 0, bytes.length);
        isUsed[key] = 2;
      }
      compact.#keyOf[i] = numbers[key];
    }
    compact.#count = this.#count;
    return compact;
  }

  #reserve(pairs: number): void {
    if (this.#count + pairs <= this.#keyOf.length) return;
    const length = Math.max(this.#count + pairs, this.#keyOf.length * 2);
    const [keyOf, rowOf] = [new Uint32Array(length), new Uint32Array(length)];
    keyOf.set(this.#keyOf);
    rowOf.set(this.#rowOf);
    [this.#keyOf, this.#rowOf] = [keyOf, rowOf];
  }

  /**
   * Builds the composite index with another index. Its keys are pairs of keys of the same row.
   * @param other has one key for every row
   */
  crossedWith(other: PostingIndexBuilder): PostingIndexBuilder {
    const crossed = new PostingIndexBuilder(this.#count, this.#rowOf);
    for (; crossed.#count < this.#count; crossed.#count++) {
      const pair = compositeKey(this.#keyOf[crossed.#count], other.#keyOf[this.#rowOf[crossed.#count]]);
      crossed.#keyOf[crossed.#count] = crossed.#keys.intern(pair, 0, PAIR_BYTES);
    }
    return crossed;
  }

  /**
   * Finishes the index.
   * @param byInstant name and `rows` of the instant index that orders a second copy of long lists
   */
  finish(byInstant?: readonly [name: string, rows: Uint32s]): PostingImage {
    const rowOf = this.#rowOf.subarray(0, this.#count);
    const keyOf = this.#keyOf.subarray(0, this.#count);
    const keyCount = this.#keys.count;
    const { starts, values: rows } = valuesByKey(keyOf, rowOf, keyCount);
    const image = { keys: this.#keys.finish(), starts, rows };
    const isAnyLong = starts.some((start, key) => starts[key + 1] - start > LONG_LIST);
    if (byInstant === undefined || !isAnyLong) return image;
    return { ...image, byInstant: buildPostingsByInstant({ rowOf, keyOf }, keyCount, ...byInstant) };
  }
}

/** Returns the keys of each row: those of row r are `keys[firsts[r] … firsts[r + 1]]`. */
export function keysByRow({ starts, rows }: PostingImage, rowCount: number): KeysByRow {
  const firsts = countStarts(rows, new Uint32Array(rowCount + 1));
  const next = firsts.slice();
  const keys = new Uint32Array(rows.length);
  for (let key = 0; key + 1 < starts.length; key++)
    for (let i = starts[key]; i < starts[key + 1]; i++) keys[next[rows[i]]++] = key;
  return { firsts, keys };
}

export interface KeysByRow {
  readonly firsts: Uint32s;
  readonly keys: Uint32s;
}

export function postingList({ starts, rows }: PostingImage, key: number): Uint32s {
  return rows.subarray(starts[key], starts[key + 1]);
}

export function keyNumbers({ keys }: PostingImage, texts: readonly string[]): number[] {
  return texts.map((text) => findKey(keys, Buffer.from(text))).filter((key) => key >= 0);
}

const PAIR_BYTES = 2 * UINT32_BYTES;

export function compositeName(first: string, second: string): string {
  return `${first} ${second}`;
}

/** Returns the numbers of those pairs of keys that the composite index has. */
export function pairNumbers(
  { keys }: PostingImage,
  firsts: readonly number[],
  seconds: readonly number[],
): number[] {
  return firsts
    .flatMap((first) => seconds.map((second) => findKey(keys, compositeKey(first, second))))
    .filter((key) => key >= 0);
}

const pairOfKeys = new Uint32Array(2);
const pairBytes = new Uint8Array(pairOfKeys.buffer);

/** Returns the bytes of a composite key; valid until the next call. */
function compositeKey(first: number, second: number): Bytes {
  pairOfKeys[0] = first;
  pairOfKeys[1] = second;
  return pairBytes;
}

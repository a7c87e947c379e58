import { findKey, KeyTableBuilder, keyTableBuilderBytes, keyTableBytes } from './key-table.ts';
import type { KeyTableImage, Texts } from './key-table.ts';
import { buildPostingsByInstant } from './postings-by-instant.ts';
import type { PostingsByInstant } from './postings-by-instant.ts';
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
  /** The same lists by an instant, when one of them is long. */
  readonly byInstant?: PostingsByInstant;
}

/** Lists up to this length are united and filtered row by row: it takes no longer than to go down a matrix. */
export const LONG_LIST = 128;

/** Bytes of the image of `pairs` pairs of row and key, of `keys` keys that have `textBytes` together. */
export function postingIndexBytes(pairs: number, keys: number, textBytes: number): number {
  return keyTableBytes(keys, textBytes) + (keys + 1 + pairs) * UINT32_BYTES;
}

/** The most that a builder of the same has, but for the rows of its pairs. */
export function postingBuilderBytes(pairs: number, keys: number, textBytes: number): number {
  return keyTableBuilderBytes(keys, textBytes) + pairs * UINT32_BYTES;
}

export class PostingIndexBuilder {
  readonly #keys: KeyTableBuilder;
  readonly #keyOf: Uint32s;
  readonly #rowOf: Uint32s;
  #count = 0;

  /**
   * @param pairs how many pairs of row and key will be added
   * @param keys how many keys are expected among them
   * @param rowOf holds the rows of the pairs; indexes may share it that have their pairs for the same rows
   */
  constructor(pairs: number, keys = 0, rowOf: Uint32s = new Uint32Array(pairs)) {
    this.#keys = new KeyTableBuilder(keys);
    this.#keyOf = new Uint32Array(pairs);
    this.#rowOf = rowOf;
  }

  /** Adds a pair of row and key; rows must not descend, and a pair must come once. */
  add(row: Row, source: Bytes, start: number, end: number): void {
    this.#keyOf[this.#count] = this.#keys.intern(source, start, end);
    this.#rowOf[this.#count++] = row;
  }

  /** Adds the rows from `firstRow` on, which must follow those before, each with one of the keys. */
  addEach(firstRow: Row, keys: Texts): void {
    this.#keys.internEach(keys, this.#keyOf, this.#count);
    for (let i = 0; i < keys.ends.length; i++) this.#rowOf[this.#count++] = firstRow + i;
  }

  /**
   * An index of the pairs of keys that rows have, one in this index and one in another.
   * @param other has one key for every row
   */
  crossedWith(other: PostingIndexBuilder): PostingIndexBuilder {
    const crossed = new PostingIndexBuilder(this.#count, 0, this.#rowOf);
    for (let i = 0; i < this.#count; i++) {
      const pair = compositeKey(this.#keyOf[i], other.#keyOf[this.#rowOf[i]]);
      crossed.add(this.#rowOf[i], pair, 0, pair.length);
    }
    return crossed;
  }

  /**
   * The keys of that index, numbered as those of the other, when each of the other's goes with one of this, as a session
   * goes with its event: then their lists are the other's, too.
   * @param other has one key for every row
   */
  pairsByKeyOf(other: PostingIndexBuilder): KeyTableImage | undefined {
    if (this.#count !== other.#count) return undefined;
    const partners = new Uint32Array(other.#keys.count);
    let known = 0;
    for (let i = 0; i < this.#count; i++) {
      const key = other.#keyOf[this.#rowOf[i]];
      // Keys are numbered as they come.
      if (key === known) partners[known++] = this.#keyOf[i];
      else if (key > known || partners[key] !== this.#keyOf[i]) return undefined;
    }
    const pairs = new KeyTableBuilder(known);
    partners.forEach((partner, key) => pairs.intern(compositeKey(partner, key), 0, PAIR_BYTES));
    return pairs.finish();
  }

  /** @param byInstant an index of instants, its name and its rows, by which to find the lists as well when one is long */
  finish(byInstant?: readonly [name: string, rows: Uint32s]): PostingImage {
    const starts = sharedUint32s(this.#keys.count + 1);
    for (let i = 0; i < this.#count; i++) starts[this.#keyOf[i] + 1]++;
    let longest = 0;
    for (const length of starts) longest = Math.max(longest, length);
    for (let key = 0; key < this.#keys.count; key++) starts[key + 1] += starts[key];
    const next = starts.slice();
    const rows = sharedUint32s(this.#count);
    for (let i = 0; i < this.#count; i++) rows[next[this.#keyOf[i]]++] = this.#rowOf[i];
    const image = { keys: this.#keys.finish(), starts, rows };
    if (byInstant === undefined || longest <= LONG_LIST) return image;
    const pairs = {
      rowOf: this.#rowOf.subarray(0, this.#count),
      keyOf: this.#keyOf.subarray(0, this.#count),
    };
    return { ...image, byInstant: buildPostingsByInstant(pairs, this.#keys.count, ...byInstant) };
  }
}

/** The rows that have a key, by its number, ascending. */
export function postingList({ starts, rows }: PostingImage, key: number): Uint32s {
  return rows.subarray(starts[key], starts[key + 1]);
}

/** The numbers of those keys that are in the index. */
export function keyNumbers({ keys }: PostingImage, texts: readonly string[]): number[] {
  return texts.map((text) => findKey(keys, Buffer.from(text))).filter((key) => key >= 0);
}

/** Length of a key of an index of pairs of keys. */
export const PAIR_BYTES = 2 * UINT32_BYTES;

/** What an index of pairs of keys is called among the indexes of its collection. */
export function compositeName(first: string, second: string): string {
  return `${first} ${second}`;
}

/** The numbers of the pairs of one of the keys and one of the others that are in an index of pairs. */
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

/** A pair of keys as a key of an index of pairs; valid until the next. */
function compositeKey(first: number, second: number): Bytes {
  pairOfKeys[0] = first;
  pairOfKeys[1] = second;
  return pairBytes;
}

import { type Bytes, type Row, sharedUint32s, UINT32_BYTES, type Uint32s } from '../memory/shared-arrays.ts';
import { findKey, KeyTableBuilder, type KeyTableImage } from './key-table.ts';
import { buildPostingsByInstant, type PostingsByInstant } from './postings-by-instant.ts';
import type { Texts } from './texts.ts';

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

export class PostingIndexBuilder {
  readonly #keys = new KeyTableBuilder();
  /** The key and the row of each pair. */
  #keyOf: Uint32s;
  #rowOf: Uint32s;
  #count = 0;

  /**
   * @param pairs how many pairs of row and key are expected
   * @param rowOf holds the rows of all pairs; indexes may share it that have their pairs for the same rows
   */
  constructor(pairs = 0, rowOf: Uint32s = new Uint32Array(pairs)) {
    this.#keyOf = new Uint32Array(pairs);
    this.#rowOf = rowOf;
  }

  /** Adds a pair of row and key; rows must not descend, and a pair must come once. */
  add(row: Row, source: Bytes, start: number, end: number): void {
    this.#reserve(1);
    this.#keyOf[this.#count] = this.#keys.intern(source, start, end);
    this.#rowOf[this.#count++] = row;
  }

  /**
   * Adds the rows from `firstRow` on, which must follow those before, each with one of the keys.
   * @param keyOf for each row the position of its key
   */
  addEach(firstRow: Row, keys: Texts, keyOf: Uint32s): void {
    this.#reserve(keyOf.length);
    const numbers = new Uint32Array(keys.ends.length);
    this.#keys.internEach(keys, numbers);
    const [numbered, rows] = [this.#keyOf.subarray(this.#count), this.#rowOf.subarray(this.#count)];
    for (let i = 0; i < keyOf.length; i++) {
      numbered[i] = numbers[keyOf[i]];
      rows[i] = firstRow + i;
    }
    this.#count += keyOf.length;
  }

  /**
   * Adds the rows from `firstRow` on, which must follow those before, each with any number of the keys.
   * @param counts how many keys each row has
   */
  addLists(firstRow: Row, keys: Texts, counts: Uint32s): void {
    this.#reserve(keys.ends.length);
    this.#keys.internEach(keys, this.#keyOf.subarray(this.#count));
    for (let i = 0; i < counts.length; i++) {
      for (let rest = counts[i]; rest > 0; rest--) this.#rowOf[this.#count++] = firstRow + i;
    }
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
   * An index of the pairs of keys that rows have, one in this index and one in another.
   * @param other has one key for every row
   */
  crossedWith(other: PostingIndexBuilder): PostingIndexBuilder {
    const crossed = new PostingIndexBuilder(this.#count, this.#rowOf);
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
    const pairs = new KeyTableBuilder();
    partners.forEach((partner, key) => pairs.intern(compositeKey(partner, key), 0, PAIR_BYTES));
    return pairs.finish();
  }

  /** @param byInstant an index of instants, its name and its rows, by which to find the lists as well when one is long */
  finish(byInstant?: readonly [name: string, rows: Uint32s]): PostingImage {
    const rowOf = this.#rowOf.subarray(0, this.#count);
    const keyOf = this.#keyOf.subarray(0, this.#count);
    const keyCount = this.#keys.count;
    const starts = sharedUint32s(keyCount + 1);
    for (const key of keyOf) starts[key + 1]++;
    let longest = 0;
    for (let key = 0; key < keyCount; key++) {
      longest = Math.max(longest, starts[key + 1]);
      starts[key + 1] += starts[key];
    }
    const next = starts.slice();
    const rows = sharedUint32s(rowOf.length);
    for (let i = 0; i < rowOf.length; i++) rows[next[keyOf[i]]++] = rowOf[i];
    const image = { keys: this.#keys.finish(), starts, rows };
    if (byInstant === undefined || longest <= LONG_LIST) return image;
    return { ...image, byInstant: buildPostingsByInstant({ rowOf, keyOf }, keyCount, ...byInstant) };
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
const PAIR_BYTES = 2 * UINT32_BYTES;

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

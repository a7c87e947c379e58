import {
  type Bytes,
  sharedBytes,
  sharedUint32s,
  UINT32_BYTES,
  type Uint32s,
} from '../memory/shared-arrays.ts';
import { hashBytes, hashText, slotCount, type Texts } from './texts.ts';

/**
 * Distinct keys, numbered 0, 1, 2 … in order of first appearance.
 *
 *     slots   open addressing, linear probing: key number + 1, or 0 when free
 *     ends    key k is bytes[ends[k] … ends[k + 1]]
 *     bytes   the keys as UTF-8, one after another
 */
export interface KeyTableImage {
  readonly slots: Uint32s;
  readonly ends: Uint32s;
  readonly bytes: Bytes;
}

const LEAST_KEYS = 16;

/** Numbers keys in order of first appearance, and finishes an image of exact size in shared memory. */
export class KeyTableBuilder {
  #slots: Uint32s = sharedUint32s(slotCount(0));
  #ends = new Uint32Array(LEAST_KEYS + 1);
  #bytes = new Uint8Array(256);
  #count = 0;
  /** By key from `#taken` on. Distinguishes most keys without reading their bytes. */
  #hashes = new Uint32Array(LEAST_KEYS);
  /** Number of keys of another table, which are not hashed again. */
  #taken = 0;
  #isFinished = false;

  /** Returns a builder that has the keys of a table, with their numbers. */
  static from({ slots, ends, bytes }: KeyTableImage): KeyTableBuilder {
    const builder = new KeyTableBuilder();
    const count = ends.length - 1;
    builder.#slots = sharedUint32s(slots.length);
    builder.#slots.set(slots);
    builder.#ends = new Uint32Array(count + LEAST_KEYS + 1);
    builder.#ends.set(ends);
    builder.#hashes = new Uint32Array(count + LEAST_KEYS);
    builder.#bytes = new Uint8Array(bytes.length + 256);
    builder.#bytes.set(bytes);
    [builder.#count, builder.#taken] = [count, count];
    return builder;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the number of the key `source[start … end]`. Adds a new key. */
  intern(source: Bytes, start: number, end: number): number {
    return this.#intern(hashBytes(source, start, end), source, start, end);
  }

  /** Interns texts in order, and writes the numbers of their keys to `numbers`. */
  internEach(texts: Texts, numbers: Uint32s): void {
    const { bytes, starts, ends } = texts;
    for (let i = 0; i < ends.length; i++)
      numbers[i] = this.#intern(hashText(texts, i), bytes, starts[i], ends[i]);
  }

  #intern(hash: number, source: Bytes, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const known = this.#slots[slot] - 1;
      if (this.#isKey(known, hash, source, start, end)) return known;
    }
    if (this.#isFinished) throw new TypeError('the key table is finished');
    const key = this.#count++;
    this.#slots[slot] = key + 1;
    this.#append(key, hash, source, start, end);
    if (this.#count * 2 >= this.#slots.length) this.#rehash();
    return key;
  }

  /** Returns the bytes of a key; valid until the next `intern`. */
  key(key: number): Bytes {
    return this.#bytes.subarray(this.#ends[key], this.#ends[key + 1]);
  }

  /** Finishes the image, which takes over memory of the builder. A further key is an error. */
  finish(): KeyTableImage {
    this.#isFinished = true;
    const ends = sharedUint32s(this.#count + 1);
    ends.set(this.#ends.subarray(0, this.#count + 1));
    const bytes = sharedBytes(ends[this.#count]);
    bytes.set(this.#bytes.subarray(0, bytes.length));
    return { slots: this.#slots, ends, bytes };
  }

  #isKey(key: number, hash: number, source: Bytes, start: number, end: number): boolean {
    return (
      (key < this.#taken || this.#hashes[key] === hash) &&
      sameBytes(this.#bytes, this.#ends[key], this.#ends[key + 1], source, start, end)
    );
  }

  #append(key: number, hash: number, source: Bytes, start: number, end: number): void {
    const from = this.#ends[key];
    const to = from + end - start;
    if (to > this.#bytes.length)
      this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(Math.max(to, this.#bytes.length * 2)));
    if (key === this.#hashes.length) {
      this.#ends = new Uint32Array(this.#ends.buffer.transfer((2 * key + 1) * UINT32_BYTES));
      this.#hashes = new Uint32Array(this.#hashes.buffer.transfer(2 * key * UINT32_BYTES));
    }
    const bytes = this.#bytes;
    for (let i = start, at = from; i < end; i++) bytes[at++] = source[i];
    this.#ends[key + 1] = to;
    this.#hashes[key] = hash;
  }

  #rehash(): void {
    const slots = sharedUint32s(slotCount(this.#count));
    const mask = slots.length - 1;
    const hashes = this.#hashes;
    for (let key = 0; key < this.#count; key++) {
      const hash =
        key < this.#taken ? hashBytes(this.#bytes, this.#ends[key], this.#ends[key + 1]) : hashes[key];
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = key + 1;
    }
    this.#slots = slots;
  }
}

export function keyText({ ends, bytes }: KeyTableImage, key: number): string {
  return Buffer.from(bytes.subarray(ends[key], ends[key + 1])).toString();
}

/** Returns the number of a key, or -1. */
export function findKey({ slots, ends, bytes }: KeyTableImage, key: Bytes): number {
  const mask = slots.length - 1;
  for (let slot = hashBytes(key) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const entry = slots[slot];
    if (sameBytes(bytes, ends[entry - 1], ends[entry], key, 0, key.length)) return entry - 1;
  }
  return -1;
}

export function sameBytes(
  a: Bytes,
  aStart: number,
  aEnd: number,
  b: Bytes,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let i = aStart, j = bStart; i < aEnd; i++, j++) if (a[i] !== b[j]) return false;
  return true;
}

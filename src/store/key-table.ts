import { hashBytes, slotCount } from './hash.ts';
import { sharedBytes, sharedUint32s, UINT32_BYTES } from './shared.ts';
import type { Bytes, Uint32s } from './shared.ts';

/**
 * Distinct keys, numbered 0, 1, 2 … in the order of their first appearance.
 *
 *     slots   open addressing, linear probing: key number + 1, or 0 when free
 *     ends    ends[k] … ends[k + 1] is key k in …
 *     bytes   the keys as UTF-8, one after the other
 */
export interface KeyTableImage {
  readonly slots: Uint32s;
  readonly ends: Uint32s;
  readonly bytes: Bytes;
}

/** Bytes of the image of `count` keys that have `textBytes` together. */
export function keyTableBytes(count: number, textBytes: number): number {
  return (slotCount(count) + count + 1) * UINT32_BYTES + textBytes;
}

/** The most that a builder of the same has, if it was told how many there are: what holds their texts doubles as it grows. */
export function keyTableBuilderBytes(count: number, textBytes: number): number {
  return (slotCount(count) + count + 2) * UINT32_BYTES + 2 * textBytes;
}

/** Texts one behind the other, as UTF-8 with a byte between them, and where each ends. */
export interface Texts {
  readonly bytes: Bytes;
  readonly ends: Uint32s;
}

const LEAST_ENDS = 16;

/** Collects keys, and is finished into an image of exact size in shared memory. */
export class KeyTableBuilder {
  /** As many as `slotCount` says for the keys that are there, or that are expected. */
  #slots: Uint32s;
  #ends: Uint32s;
  #bytes: Bytes = new Uint8Array(256);
  #count = 0;
  /** Of the texts that were interned together last. */
  #hashes: Uint32s = new Uint32Array(0);

  /** @param expected how many keys there will be, if that is known: then nothing grows but what holds their texts */
  constructor(expected = 0) {
    this.#slots = sharedUint32s(slotCount(expected));
    this.#ends = new Uint32Array(Math.max(LEAST_ENDS, expected + 2));
  }

  get count(): number {
    return this.#count;
  }

  /** The number of the key that is `source[start … end]`, a new one when it is new. */
  intern(source: Bytes, start: number, end: number): number {
    return this.#intern(hashBytes(source, start, end), source, start, end);
  }

  /**
   * Interns one text after the other, and puts the numbers of their keys into `numbers` from `at` on.
   *
   * Where there are many keys, to intern one is to wait for memory: for a slot somewhere. So all texts are looked up first,
   * as far as their slots: none of these looks waits for another, as the keys do.
   */
  internEach({ bytes, ends }: Texts, numbers: Uint32s, at: number): void {
    const hashes = this.#hashesOf(bytes, ends);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let i = 0; i < ends.length; i++) numbers[at + i] = slots[hashes[i] & mask];
    for (let i = 0, start = 0; i < ends.length; i++) {
      const entry = numbers[at + i];
      const isFound = entry > 0 && this.#isKey(entry - 1, bytes, start, ends[i]);
      numbers[at + i] = isFound ? entry - 1 : this.#intern(hashes[i], bytes, start, ends[i]);
      start = ends[i] + 1;
    }
  }

  #hashesOf(bytes: Bytes, ends: Uint32s): Uint32s {
    if (this.#hashes.length < ends.length) this.#hashes = new Uint32Array(ends.length);
    for (let i = 0, start = 0; i < ends.length; i++) {
      this.#hashes[i] = hashBytes(bytes, start, ends[i]);
      start = ends[i] + 1;
    }
    return this.#hashes;
  }

  #intern(hash: number, source: Bytes, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = this.#slots[slot];
      if (entry === 0) break;
      if (this.#isKey(entry - 1, source, start, end)) return entry - 1;
      slot = (slot + 1) & mask;
    }
    const key = this.#count++;
    this.#slots[slot] = key + 1;
    this.#append(key, source, start, end);
    if (this.#count * 2 >= this.#slots.length) this.#rehash();
    return key;
  }

  /** The number of the key that is `source[start … end]`, or -1. */
  find(source: Bytes, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashBytes(source, start, end) & mask; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#isKey(this.#slots[slot] - 1, source, start, end)) return this.#slots[slot] - 1;
    }
    return -1;
  }

  /** The bytes of a key; valid until the next `intern`. */
  key(key: number): Bytes {
    return this.#bytes.subarray(this.#ends[key], this.#ends[key + 1]);
  }

  /** To be asked for when all keys are there: the image has the memory of the builder. */
  finish(): KeyTableImage {
    if (this.#slots.length !== slotCount(this.#count)) this.#rehash();
    const ends = sharedUint32s(this.#count + 1);
    ends.set(this.#ends.subarray(0, this.#count + 1));
    const bytes = sharedBytes(ends[this.#count]);
    bytes.set(this.#bytes.subarray(0, bytes.length));
    return { slots: this.#slots, ends, bytes };
  }

  #isKey(key: number, source: Bytes, start: number, end: number): boolean {
    return sameBytes(this.#bytes, this.#ends[key], this.#ends[key + 1], source, start, end);
  }

  #append(key: number, source: Bytes, start: number, end: number): void {
    const from = this.#ends[key];
    const to = from + end - start;
    if (to > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(to, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    if (key + 2 > this.#ends.length) {
      const grown = new Uint32Array(this.#ends.length * 2);
      grown.set(this.#ends);
      this.#ends = grown;
    }
    for (let i = start, at = from; i < end; i++) this.#bytes[at++] = source[i];
    this.#ends[key + 1] = to;
  }

  #rehash(): void {
    const slots = sharedUint32s(slotCount(this.#count));
    const mask = slots.length - 1;
    for (let key = 0; key < this.#count; key++) {
      let slot = hashBytes(this.#bytes, this.#ends[key], this.#ends[key + 1]) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = key + 1;
    }
    this.#slots = slots;
  }
}

/** The number of a key in a finished table, or -1. */
export function findKey({ slots, ends, bytes }: KeyTableImage, key: Bytes): number {
  const mask = slots.length - 1;
  let slot = hashBytes(key, 0, key.length) & mask;
  for (;;) {
    const entry = slots[slot];
    if (entry === 0) return -1;
    if (sameBytes(bytes, ends[entry - 1], ends[entry], key, 0, key.length)) return entry - 1;
    slot = (slot + 1) & mask;
  }
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

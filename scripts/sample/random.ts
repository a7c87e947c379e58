/** Seeded randomness: numbers, shuffled choices and identifiers, the same for the same seed on every machine. */

export class Random {
  #a = 0x9e3779b9;
  #b = 0x243f6a88;
  #c: number;
  #counter = 1;

  /** @param seed an integer from 0 to 2^32 - 1. */
  constructor(seed: number) {
    this.#c = seed | 0;
    for (let round = 0; round < 15; round++) this.uint32(); // until the seed has reached every bit
  }

  /** Returns the next 32 bits. The generator is sfc32 of Chris Doty-Humphrey's PractRand (public domain). */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Returns a number in [0, 1). */
  fraction(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  /** Returns an integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** Returns an integer in [low, high]. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)];
  }
}

/**
 * Draws values without replacement, and refills when empty. Unlike independent draws, this yields every value in a
 * small sample, too: a folder of a hundred tickets contains each kind of order.
 */
export class ShuffleBag<T extends string> {
  readonly #random: Random;
  readonly #values: T[];
  #left = 0;

  /** @param counts number of copies of each value in a full bag */
  constructor(random: Random, counts: Readonly<Record<T, number>>) {
    this.#random = random;
    // TypeScript's type of the keys of any object is that of texts.
    const values = Object.keys(counts) as T[];
    this.#values = values.flatMap((value) => Array.from({ length: counts[value] }, () => value));
  }

  draw(): T {
    if (this.#left === 0) this.#left = this.#values.length;
    const drawn = this.#random.below(this.#left--);
    const value = this.#values[drawn];
    this.#values[drawn] = this.#values[this.#left];
    this.#values[this.#left] = value;
    return value;
  }
}

/**
 * Generates unique identifiers, such as `tkt_8c1f20b7a94e03d5`, without a set of those in use. Half of each is a
 * counter, permuted by a bijection of 32 bits; therefore 2^32 of them are distinct.
 */
export class Identifiers {
  readonly #random: Random;
  readonly #salt: number;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#salt = random.uint32();
  }

  next(prefix: string): string {
    return prefix + this.code();
  }

  /** Returns 16 hexadecimal digits. */
  code(): string {
    return hex(scramble((this.#count++ ^ this.#salt) >>> 0)) + hex(this.#random.uint32());
  }
}

/** Permutes the 32-bit integers: the finalizer of MurmurHash3 (Austin Appleby, public domain). */
export function scramble(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0');
}

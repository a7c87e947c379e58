/** A seeded source of numbers: the same seed gives the same sequence on every machine. */
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

  /** The next 32 bits. The generator is sfc32 of Chris Doty-Humphrey's PractRand (public domain). */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A number from 0 up to, not including, 1. */
  fraction(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** An integer from `low` to `high`, both included. */
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

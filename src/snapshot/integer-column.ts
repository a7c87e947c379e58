import type { Int64s } from '../store/shared.ts';
import { ColumnText } from './column-text.ts';
import type { Column } from './column-text.ts';

/** Gathers the whole numbers of a column: as they are, and in the decimal digits that are digested. */
export class IntegerColumn {
  readonly #digits: ColumnText;
  readonly #integers: Int64s;
  /** The same, the lower 32 bits of each before the upper ones: no number on the way is a bigint. */
  readonly #halves: Uint32Array;
  #count = 0;

  /** @param rows the most values that are gathered */
  constructor(rows: number) {
    this.#digits = new ColumnText(rows);
    this.#integers = new BigInt64Array(rows);
    this.#halves = new Uint32Array(this.#integers.buffer);
  }

  clear(): void {
    this.#digits.clear();
    this.#count = 0;
  }

  /** Adds a whole number below 2^53. */
  addNumber(value: number): void {
    this.#digits.addNumber(value);
    this.#halves[2 * this.#count] = value;
    this.#halves[2 * this.#count++ + 1] = Math.floor(value / 2 ** 32);
  }

  addBigInt(value: bigint): void {
    this.#digits.addBigInt(value);
    this.#integers[this.#count++] = value;
  }

  /** What was gathered since it was cleared, valid until then. */
  column(): Column | undefined {
    const digits = this.#digits.column();
    return digits && { ...digits, integers: this.#integers.subarray(0, this.#count) };
  }
}

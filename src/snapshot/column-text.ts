import { SEPARATOR } from './format.ts';
import type { Bytes, Int64s } from '../store/shared.ts';

/** The values of one column of a chunk. */
export interface Column {
  /** The values, a byte between them that no text holds. */
  readonly bytes: Bytes;
  /** Where each value ends; the next begins one byte further. */
  readonly ends: Uint32Array;
  /** The same values of a column of whole numbers, whose digits stand above. */
  readonly integers?: Int64s;
}

const HALF = 1e8;
const HALF_DIGITS = 8;
const MOST_DIGITS = 20;

/** Gathers the values of a column, of one chunk after the other in the same memory. */
export class ColumnText {
  #bytes = Buffer.allocUnsafeSlow(4096);
  #length = 0;
  readonly #ends: Uint32Array;
  #count = 0;

  /** @param rows the most values that are gathered */
  constructor(rows: number) {
    this.#ends = new Uint32Array(rows);
  }

  clear(): void {
    this.#length = 0;
    this.#count = 0;
  }

  /** What was gathered since it was cleared, valid until then; undefined when a text holds a separator. */
  column(): Column | undefined {
    const bytes = this.#bytes.subarray(0, this.#length - 1);
    const ends = this.#ends.subarray(0, this.#count);
    // Until now other bytes stand in their place, so that one look at all of the column finds one that is none.
    if (bytes.includes(SEPARATOR)) return undefined;
    for (let i = 0; i + 1 < ends.length; i++) bytes[ends[i]] = SEPARATOR;
    return { bytes, ends };
  }

  /** Adds a text, UTF-8 in `source[start … end]`. */
  addText(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start + 1);
    source.copy(this.#bytes, this.#length, start, end);
    this.#end(this.#length + end - start);
  }

  /** Adds a whole number below 2^53, in decimal digits. */
  addNumber(value: number): void {
    this.#reserve(MOST_DIGITS + 1);
    const size = Math.abs(value);
    if (value < 0) this.#bytes[this.#length++] = 0x2d;
    let digits = 1;
    for (let power = 10; power <= size; power *= 10) digits++;
    const high = Math.floor(size / HALF);
    const end = this.#length + digits;
    if (high > 0) {
      this.#writeDigits(size - high * HALF, end, HALF_DIGITS);
      this.#writeDigits(high, end - HALF_DIGITS, digits - HALF_DIGITS);
    } else {
      this.#writeDigits(size, end, digits);
    }
    this.#end(end);
  }

  addBigInt(value: bigint): void {
    const digits = Buffer.from(value.toString());
    this.addText(digits, 0, digits.length);
  }

  #writeDigits(value: number, end: number, digits: number): void {
    let rest = value;
    for (let at = end - 1; at >= end - digits; at--) {
      const next = Math.floor(rest / 10);
      this.#bytes[at] = 0x30 + rest - next * 10;
      rest = next;
    }
  }

  #end(at: number): void {
    this.#bytes[at] = 0;
    this.#ends[this.#count++] = at;
    this.#length = at + 1;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#length + count, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

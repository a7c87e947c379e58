import type { Random } from './random.ts';

/**
 * Source of identifiers such as `tkt_8c1f20b7a94e03d5`, never the same twice, without remembering any.
 * Half of each is a counter sent through a bijection of 32 bits, so that 2^32 of them differ for certain.
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

  /** 16 hexadecimal digits. */
  code(): string {
    return hex(scramble((this.#count++ ^ this.#salt) >>> 0)) + hex(this.#random.uint32());
  }
}

/** A bijection of the integers of 32 bits: the finalizer of MurmurHash3 (Austin Appleby, public domain). */
export function scramble(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** The two digits of each byte: padding anew for each identifier took a tenth of the time of the whole sample. */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(bits: number): string {
  return BYTES[bits >>> 24] + BYTES[(bits >>> 16) & 0xff] + BYTES[(bits >>> 8) & 0xff] + BYTES[bits & 0xff];
}

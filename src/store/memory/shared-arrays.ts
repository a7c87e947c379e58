/** Typed arrays over shared memory: filled by the loader, read by any thread without a copy. */

export type Bytes = Uint8Array;
export type Uint32s = Uint32Array;
export type Int64s = BigInt64Array;

/** The dense number of a record within its collection, in list order. */
export type Row = number;

/** 2^20 bytes, the unit of `MEMORY_LIMIT_MB`, container limits and messages to operators. */
export const MEGABYTE = 2 ** 20;

export const UINT32_BYTES = Uint32Array.BYTES_PER_ELEMENT;

export const sharedBytes = (length: number): Bytes => new Uint8Array(new SharedArrayBuffer(length));
export const sharedUint32s = (length: number): Uint32s =>
  new Uint32Array(new SharedArrayBuffer(length * UINT32_BYTES));
export const sharedInt64s = (length: number): Int64s =>
  new BigInt64Array(new SharedArrayBuffer(length * BigInt64Array.BYTES_PER_ELEMENT));

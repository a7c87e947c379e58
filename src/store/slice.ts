import type { Bytes } from './shared.ts';

/** The bytes `bytes[start … end]`. No view of them: to make one takes longer than to copy a record. */
export interface Slice {
  readonly bytes: Bytes;
  readonly start: number;
  readonly end: number;
}

export function sliceOf(bytes: Bytes): Slice {
  return { bytes, start: 0, end: bytes.length };
}

/** A view of a slice. */
export function viewOf({ bytes, start, end }: Slice): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}

const anyBuffer = Buffer.alloc(0);
/** Not all versions of Node copy from places beyond 32 bits. */
const MOST_OFFSET = 2 ** 32 - 1;

/**
 * Copies a slice to `target[at …]`, as Buffer does: what arrays have for it goes through shared memory a word at a time,
 * which takes five times as long. Returns how many bytes that were.
 */
export function copySlice(slice: Slice, target: Buffer, at: number): number {
  const { bytes, start, end } = slice;
  if (end > MOST_OFFSET) return viewOf(slice).copy(target, at);
  return anyBuffer.copy.call(bytes, target, at, start, end);
}

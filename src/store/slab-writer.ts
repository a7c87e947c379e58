import { inheritedMemory } from './memory/inherited-memory.ts';
import { type Bytes, MEGABYTE, sharedBytes, sharedUint32s } from './memory/shared-arrays.ts';
import { COMMA, type Slab } from './records.ts';

/** Number of full slabs of a large list. The time to send a message grows with the square of the number of its buffers. */
const SLABS = 1000;

/** The number of slabs that were made in this process. Its threads share it. */
const counter = inheritedMemory('foyer shared memory', () => sharedUint32s(1));

export interface SlabOptions {
  /** Bytes of all records of the list, with their commas. */
  readonly bytes: number;
  /** Bytes of a slab, unless a record is longer. */
  readonly slabBytes?: number | undefined;
  /** Whether images of other snapshots may refer to the slabs. */
  readonly isShared: boolean;
  /** Whether to count the bytes to copy, and to copy none. */
  readonly isDry?: boolean;
}

/** Copies records into new slabs, which it adds to others. */
export class SlabWriter {
  readonly slabBytes: number;
  copiedBytes = 0;
  /** Bytes to copy, about: a slab is no longer than that. */
  expectedBytes: number;
  /** Bytes that the slab that is being filled may have. */
  capacity = 0;
  readonly #slabs: Slab[];
  readonly #options: SlabOptions;
  /** The slab that is being filled, and its bytes so far. */
  #filling = 0;
  #filled = 0;
  #space = sharedBytes(0);

  constructor(slabs: Slab[], options: SlabOptions) {
    this.#slabs = slabs;
    this.#options = options;
    this.expectedBytes = options.bytes;
    this.slabBytes = options.slabBytes ?? Math.max(MEGABYTE, Math.ceil(options.bytes / SLABS));
  }

  /** Returns where the next record, of a length, will be in its slab. */
  position(length: number): number {
    if (this.#filled + length > this.capacity) this.finishSlab();
    if (this.#filled === 0) this.capacity = Math.max(Math.min(this.slabBytes, this.expectedBytes), length);
    return this.#filled;
  }

  /**
   * Copies records, the last of which may lack the comma after it. Returns their slab.
   * @param end behind that comma
   */
  append(source: Bytes, start: number, end: number): number {
    const { isDry = false } = this.#options;
    if (this.#filled === 0) {
      if (!isDry && this.#space.length < this.capacity) this.#space = sharedBytes(this.capacity);
      this.#filling = this.#slabs.push({ number: 0, bytes: this.#space }) - 1;
    }
    if (!isDry) {
      this.#space.set(source.subarray(start, end), this.#filled);
      this.#space[this.#filled + end - start - 1] = COMMA;
    }
    this.#filled += end - start;
    this.copiedBytes += end - start;
    return this.#filling;
  }

  /** Gives the slab that is being filled its exact size. */
  finishSlab(): void {
    if (this.#filled === 0) return;
    let bytes = this.#space;
    if (this.#filled < bytes.length) {
      bytes = sharedBytes(this.#filled);
      bytes.set(this.#space.subarray(0, this.#filled));
    } else this.#space = sharedBytes(0);
    this.#slabs[this.#filling] = {
      number: this.#options.isShared ? Atomics.add(counter, 0, 1) + 1 : 0,
      bytes,
    };
    this.#filled = 0;
  }
}

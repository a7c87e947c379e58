import { MAX_SLOTS } from '../keys/key-ring.ts';

export type CountsBySlot = Int32Array<SharedArrayBuffer>;

/** The first counts are the open streams of each key, in its slot. The others follow. */
export const STREAMS = MAX_SLOTS;
export const CONNECTIONS = MAX_SLOTS + 1;
const LIMIT = MAX_SLOTS + 2;
/** Kilobytes of 2^10 bytes that wait to be sent. */
export const UNSENT_KB = MAX_SLOTS + 3;

/** Creates the counts. The system allocates memory only for those that are used. */
export function newOpenCounts(): CountsBySlot {
  return new Int32Array(new SharedArrayBuffer((MAX_SLOTS + 4) * Int32Array.BYTES_PER_ELEMENT));
}

/**
 * Counts what is open at present, over all workers. The part of a worker is subtracted when the worker ends, because
 * its open responses or connections end without an event.
 */
export class OpenCounts {
  readonly #shared: CountsBySlot;
  readonly part: CountsBySlot;

  constructor(shared: CountsBySlot, part = newOpenCounts()) {
    this.#shared = shared;
    this.part = part;
  }

  /** Returns the count of a slot over all workers. */
  inAll(slot: number): number {
    return Atomics.load(this.#shared, slot);
  }

  inThis(slot: number): number {
    return this.part[slot];
  }

  /** Adds to the count of a slot. Returns the new count over all workers. */
  change(slot: number, by: number): number {
    this.part[slot] += by;
    return Atomics.add(this.#shared, slot, by) + by;
  }

  get limit(): number {
    return this.inAll(LIMIT);
  }

  set limit(connections: number) {
    Atomics.store(this.#shared, LIMIT, connections);
  }

  /** Subtracts the part of the worker, which has ended. */
  clear(): void {
    const { part } = this;
    for (let slot = 0; slot < part.length; slot++) if (part[slot] !== 0) this.change(slot, -part[slot]);
  }
}

/** Counts by slot in shared memory. */
export type CountsBySlot = Int32Array<SharedArrayBuffer>;

/** Creates a count for each slot. The system allocates memory only for counts that are used. */
export function newCountsBySlot(slots: number): CountsBySlot {
  return new Int32Array(new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT));
}

/** The memory of `WorkerCounts`: `shared` of all workers, `part` of one. */
export interface CountsMemory {
  readonly shared: CountsBySlot;
  readonly part: CountsBySlot;
}

/**
 * Counts what is open at present, over all workers. The part of a worker is subtracted when the worker ends, because
 * its open responses or connections end without an event.
 */
export class WorkerCounts {
  readonly memory: CountsMemory;

  constructor(memory: CountsMemory) {
    this.memory = memory;
  }

  /** Returns the count of a slot over all workers. */
  inSlot(slot: number): number {
    return Atomics.load(this.memory.shared, slot);
  }

  /** Adds to the count of a slot. Returns the new count over all workers. */
  change(slot: number, by: number): number {
    this.memory.part[slot] += by;
    return Atomics.add(this.memory.shared, slot, by) + by;
  }

  /** Subtracts the part of the worker, which has ended. */
  clear(): void {
    const { part } = this.memory;
    for (let slot = 0; slot < part.length; slot++) if (part[slot] !== 0) this.change(slot, -part[slot]);
  }
}

/**
 * A histogram in memory that threads may share; one of them writes it. Of `n` bounds, rising:
 *
 *     slots   0 … n − 1   how many values lie above the bound before and not above bounds[i]
 *             n           how many lie above all bounds
 *             n + 1       the sum of all values
 */
export class SharedHistogram {
  readonly #slots: Float64Array;
  readonly #bounds: readonly number[];

  constructor(slots: Float64Array, bounds: readonly number[]) {
    this.#slots = slots;
    this.#bounds = bounds;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket++;
    this.#slots[bucket]++;
    this.#slots[bounds.length + 1] += value;
  }
}

/** Values counted by bucket: one for each bound, and one for what lies above them all. */
export interface HistogramTotals {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

export function histogramSlots(bounds: readonly number[]): number {
  return bounds.length + 2;
}

export function histogramTotals(slots: Float64Array, bounds: readonly number[]): HistogramTotals {
  return { bounds, counts: [...slots.subarray(0, bounds.length + 1)], sum: slots[bounds.length + 1] };
}

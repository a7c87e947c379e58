import type { Usage } from './soak-replica.ts';
import { MEGABYTE } from '../../src/store/memory/shared-arrays.ts';

/** The growth of memory and descriptors over a soak. */

/** Share of the time in which the first samples are not compared: code, heaps and buffers grow to their size. */
const WARM_UP_SHARE = 0.2;

/** A quantity with its bound: the growth that is allowed, as a share and as an amount. */
interface Quantity {
  readonly name: string;
  readonly of: (usage: Usage) => number;
  readonly share: number;
  readonly amount: number;
}

const QUANTITIES: readonly Quantity[] = [
  { name: 'resident memory, MB', of: (usage) => usage.residentBytes / MEGABYTE, share: 0.1, amount: 48 },
  { name: 'heap of the main thread, MB', of: (usage) => usage.heapBytes / MEGABYTE, share: 0.1, amount: 16 },
  { name: 'descriptors without connections', of: (usage) => usage.descriptors, share: 0, amount: 16 },
];

export interface Growth {
  readonly name: string;
  /** Medians of the first and the last third of the samples after the warm-up. */
  readonly first: number;
  readonly last: number;
  readonly isFlat: boolean;
}

/** Compares the last third of the samples, which are evenly spaced, with the first third after the warm-up. */
export function growthOf(samples: readonly Usage[]): Growth[] {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const third = Math.ceil(warm.length / 3);
  return QUANTITIES.map(({ name, of, share, amount }) => {
    const [first, last] = [warm.slice(0, third), warm.slice(-third)].map((part) => median(part.map(of)));
    return { name, first, last, isFlat: last <= first * (1 + share) + amount };
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

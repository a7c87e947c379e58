import type { Int64s, Uint32s } from './shared.ts';

/**
 * Where a value would stand among ascending ones: in front of those that are not below it. There are two of the same,
 * since one that met numbers and bigints would be several times as slow with either.
 */

export function lowerBound(values: Uint32s, bound: number, from = 0, to = values.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function lowerInstantBound(instants: Int64s, bound: bigint, from = 0, to = instants.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (instants[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

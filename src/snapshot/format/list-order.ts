import { parseTimestamp } from '../../contract/timestamp.ts';
import { parseObject, textIn } from './json-values.ts';
import type { CollectionLayout } from './layout.ts';

/** What the place of a record in its list depends on. */
export type Place = ReturnType<typeof placeOf>;

export function placeOf({ resource, orderedBy }: CollectionLayout, json: string) {
  const record = parseObject(json);
  return {
    instant: parseTimestamp(textIn(record?.[orderedBy.field])) ?? 0n,
    id: textIn(record?.[resource.id]),
  };
}

export function isBefore({ orderedBy }: CollectionLayout, a: Place, b: Place): boolean {
  if (a.instant === b.instant) return a.id < b.id;
  return orderedBy.descending ? a.instant > b.instant : a.instant < b.instant;
}

/**
 * Finds the first row of a part of a list whose record does not come before a place, near its beginning in few steps:
 * records that were added are often close to each other.
 */
export function findPlace(
  layout: CollectionLayout,
  place: Place,
  from: number,
  end: number,
  recordAt: (row: number) => string,
): number {
  const isRowBefore = (row: number) => isBefore(layout, placeOf(layout, recordAt(row)), place);
  let step = 1;
  let [low, high] = [from, from];
  while (high < end && isRowBefore(high)) {
    low = high + 1;
    high = Math.min(high + step, end);
    step *= 2;
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isRowBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

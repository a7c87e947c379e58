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

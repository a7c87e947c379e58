import type { InstantImage } from '../store/index/instant-index.ts';
import { compositeName, keyNumbers, pairNumbers, type PostingImage } from '../store/index/posting-index.ts';
import { lowerInstantBound } from '../store/index/row-sets.ts';
import type { Int64s } from '../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import type { Predicate } from './plan.ts';

/** A query in terms of a collection's indexes: the rows that are in every key set and every window. */
export type ResolvedQuery = ReturnType<typeof resolve>;

/** The rows that have any of some keys of an index. */
export interface KeySet {
  readonly index: string;
  readonly postings: PostingImage;
  /** Key numbers. */
  readonly keys: readonly number[];
}

/** The rows at the positions `low … high` of an instant index, not all of them. */
export interface Window {
  readonly index: string;
  readonly instants: InstantImage;
  readonly low: number;
  readonly high: number;
}

/** Looks up the keys and instants of predicates. */
export function resolve(collection: CollectionImage, where: readonly Predicate[]) {
  const keySets: KeySet[] = [];
  const windows: Window[] = [];
  for (const predicate of where) {
    const { index } = predicate;
    if (predicate.match === 'anyOf') {
      const postings = collection.postings[index];
      keySets.push({ index, postings, keys: keyNumbers(postings, predicate.keys) });
    } else {
      const instants = collection.instants[index];
      const [low, high] = windowRange(instants.sorted, predicate);
      // Every row has an instant, so a window over all of them excludes none.
      if (low > 0 || high < instants.sorted.length) windows.push({ index, instants, low, high });
    }
  }
  return { keySets: compose(collection, keySets), windows };
}

/** Merges two key sets that have a composite index. */
function compose(collection: CollectionImage, keySets: readonly KeySet[]): readonly KeySet[] {
  for (const first of keySets) {
    for (const second of keySets) {
      const index = compositeName(first.index, second.index);
      if (!Object.hasOwn(collection.postings, index)) continue;
      const postings = collection.postings[index];
      const keys = pairNumbers(postings, first.keys, second.keys);
      const rest = keySets.filter((set) => set !== first && set !== second);
      return [{ index, postings, keys }, ...rest];
    }
  }
  return keySets;
}

/** Returns a text that identifies a query among those over the same collection. */
export function cacheKeyOf({ keySets, windows }: ResolvedQuery): string {
  const sets = keySets.map(({ index, keys }) => `${index}=${keys.join()}`);
  const ranges = windows.map(({ index, low, high }) => `${index}=${low}-${high}`);
  return [...sets, ...ranges].join('&');
}

/** Returns the positions of the instants within a window. The range is empty if the bounds cross. */
export function windowRange(
  sorted: Int64s,
  { from, until }: Predicate & { match: 'window' },
  start = 0,
  end = sorted.length,
): [low: number, high: number] {
  const low = from === undefined ? start : lowerInstantBound(sorted, from, start, end);
  const high = until === undefined ? end : lowerInstantBound(sorted, until, start, end);
  return [low, Math.max(low, high)];
}

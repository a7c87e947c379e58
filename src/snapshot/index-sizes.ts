import type { CollectionLayout, KeysOf } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';

/** How large a posting index is taken to be before its content is read. */
export interface IndexSize {
  /** Pairs of row and key, which are counted. */
  readonly pairs: number;
  /** Keys, which are not. */
  readonly keys: number;
  /** Whether some of its lists may be long. */
  readonly mayBeLong: boolean;
}

/** Keys of which there are few: three of a status, two of true and false. */
const FEW = 8;

/** The indexes of a collection by their names. */
export function indexSizes(
  layout: CollectionLayout,
  { segments }: ManifestOrganization,
): ReadonlyMap<string, IndexSize> {
  const rowsOf = (table: string) => segmentOf(segments, table).rowCount;
  return new Map([
    ...layout.keys.map(({ index, keysOf }) => [index, sizeOf(rowsOf(layout.table), keysOf, rowsOf)] as const),
    ...layout.relations.map(
      ({ index, keysOf, table }) => [index, sizeOf(rowsOf(table), keysOf, rowsOf)] as const,
    ),
  ]);
}

function sizeOf(pairs: number, keysOf: KeysOf, rowsOf: (table: string) => number): IndexSize {
  return { pairs, keys: Math.min(pairs, keysIn(pairs, keysOf, rowsOf)), mayBeLong: keysOf !== 'own' };
}

function keysIn(pairs: number, keysOf: KeysOf, rowsOf: (table: string) => number): number {
  if (keysOf === 'own' || keysOf === 'any') return pairs;
  if (keysOf === 'few') return FEW;
  // Of a table without rows nothing can be told: it may not have been exported.
  return rowsOf(keysOf) || pairs;
}

/**
 * The index of the pairs of keys of two others: a key of the one has few of the other, or the one goes with the other
 * as a session goes with its event.
 */
export function crossedSize(first: IndexSize, second: IndexSize): IndexSize {
  const keys = second.keys <= FEW ? first.keys * second.keys : Math.max(first.keys, second.keys);
  return { pairs: first.pairs, keys: Math.min(first.pairs, keys), mayBeLong: true };
}

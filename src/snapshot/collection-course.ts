import { idIndexBytes } from '../store/id-index.ts';
import { instantIndexBytes } from '../store/instant-index.ts';
import { PAIR_BYTES, postingBuilderBytes, postingIndexBytes } from '../store/posting-index.ts';
import { postingsByInstantBytes } from '../store/postings-by-instant.ts';
import { recordsBytes } from '../store/records.ts';
import { INT64_BYTES, UINT32_BYTES } from '../store/shared.ts';
import { crossedSize, indexSizes } from './index-sizes.ts';
import type { IndexSize } from './index-sizes.ts';
import type { CollectionLayout } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import type { MemoryCourse } from './memory-course.ts';

/** Length that a key of an index is taken to have: it is content. UUIDs have 36, e-mails some 25, other ids mostly less. */
export const KEY_BYTES = 24;

/** A radix sort's counts of 16-bit digits, for the four digits of an instant. */
const SORT_COUNTS_BYTES = 4 * 0x1_0000 * UINT32_BYTES;

/** Arrays of a number for each row or pair that the finishing of an index has beside it: a sort, or a matrix. */
const FINISHING_ARRAYS = 8;

/** An index, and what it is built from: in its place, or made for it when its turn comes. */
interface Building {
  readonly image: number;
  readonly builder: number;
  readonly isFromOthers?: boolean;
}

/** The memory of a collection: its records and what is gathered while they are read, then one index after the other. */
export function collectionCourse(layout: CollectionLayout, organization: ManifestOrganization): MemoryCourse {
  const { rowCount, recordBytes } = segmentOf(organization.segments, layout.table);
  const sizes = indexSizes(layout, organization);
  const buildingOf = ({ pairs, keys, mayBeLong }: IndexSize, keyBytes: number): Building => ({
    image:
      postingIndexBytes(pairs, keys, keys * keyBytes) +
      (mayBeLong && layout.instants.length > 0 ? postingsByInstantBytes(pairs, keys, rowCount) : 0),
    builder: postingBuilderBytes(pairs, keys, keys * keyBytes),
  });
  const instants = layout.instants.map((): Building => ({
    image: instantIndexBytes(rowCount),
    builder: rowCount * INT64_BYTES,
  }));
  const postings = [...sizes.values()].map((size) => buildingOf(size, KEY_BYTES));
  const composites = layout.composites.map(([first, second]): Building => {
    const size = crossedSize(sizeOf(sizes, first), sizeOf(sizes, second));
    return { ...buildingOf(size, PAIR_BYTES), isFromOthers: true };
  });
  const counts = [rowCount, ...layout.relations.map(({ index }) => sizeOf(sizes, index).pairs)];
  const rowsOfPairs = sum(counts) * UINT32_BYTES;
  const beside = SORT_COUNTS_BYTES + FINISHING_ARRAYS * Math.max(...counts) * UINT32_BYTES;
  const records = recordsBytes(rowCount, recordBytes) + idIndexBytes(rowCount);

  let now = records + rowsOfPairs + sum([...instants, ...postings].map(({ builder }) => builder));
  let peak = now;
  for (const { image, builder, isFromOthers = false } of [...instants, ...composites, ...postings]) {
    if (isFromOthers) now += builder;
    peak = Math.max(peak, now + image + beside);
    now += image - builder;
  }
  return { held: now - rowsOfPairs, peak };
}

function sizeOf(sizes: ReadonlyMap<string, IndexSize>, index: string): IndexSize {
  const size = sizes.get(index);
  if (size === undefined) throw new TypeError(`there is no index ${index}`);
  return size;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

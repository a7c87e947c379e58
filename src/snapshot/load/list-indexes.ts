import { buildInstantIndex, type RankedInstantImage } from '../../store/index/instant-index.ts';
import {
  compositeName,
  keyNumbers,
  type PostingImage,
  PostingIndexBuilder,
  postingList,
} from '../../store/index/posting-index.ts';
import type { Int64s } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import { isIdentifier, type CollectionLayout } from '../format/layout.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import type { Run } from './run-reader.ts';

/**
 * Builds the indexes over the columns of a list.
 * Each one releases its build memory before the next one is finished.
 * @throws RefusedSnapshot when a column has no value for each record, or invalid ones
 */
export function buildIndexes(
  layout: CollectionLayout,
  count: number,
  runs: Iterable<Run>,
): Pick<CollectionImage, 'postings' | 'instants'> {
  const { columns, composites, postingOrder } = layout;
  const builders: Record<string, PostingIndexBuilder> = {};
  const values: Record<string, Int64s> = {};
  // Indexes with one key for each row share this array.
  const rowOf = new Uint32Array(count);
  for (const { index, holds } of columns) {
    if (holds === 'instant') values[index] = new BigInt64Array(count);
    else
      builders[index] = holds === 'text' ? new PostingIndexBuilder(count, rowOf) : new PostingIndexBuilder();
  }
  for (const run of runs) {
    const { firstRow } = run.entry;
    for (const { column, index, holds } of columns) {
      if (holds === 'instant') values[index].set(run.instants(column), firstRow);
      else if (holds === 'text') {
        const { texts, textOf } = run.texts(column);
        builders[index].addEach(firstRow, texts, textOf);
      } else {
        const { texts, counts } = run.lists(column);
        builders[index].addLists(firstRow, texts, counts);
      }
    }
  }
  const instants: Record<string, RankedInstantImage> = {};
  for (const index in values) {
    instants[index] = buildInstantIndex(values[index]);
    Reflect.deleteProperty(values, index);
  }
  const order =
    postingOrder === undefined ? undefined : ([postingOrder, instants[postingOrder].rows] as const);
  const postings: Record<string, PostingImage> = {};
  const finish = (index: string) => {
    postings[index] = builders[index].finish(order);
    Reflect.deleteProperty(builders, index);
  };
  Object.keys(builders)
    .filter((index) => !composites.flat().includes(index))
    .forEach(finish);
  for (const [first, second] of composites) {
    const { [first]: firstBuilder, [second]: secondBuilder } = builders;
    postings[compositeName(first, second)] = firstBuilder.crossedWith(secondBuilder).finish(order);
    [first, second].forEach(finish);
  }
  for (const { column, index, holds } of columns) {
    if (holds === 'list') checkDistinct(layout, postings[index], column);
    else if (isIdentifier(layout, index)) checkNotEmpty(layout, postings[index], column);
  }
  return { postings, instants };
}

/** Refuses an empty id. No request can name it, and an import has none. */
function checkNotEmpty({ table }: CollectionLayout, postings: PostingImage, column: string): void {
  const key = keyNumbers(postings, ['']).at(0);
  if (key === undefined) return;
  const [row] = postingList(postings, key);
  throw inconsistent(`column ${column} of ${table} holds an empty id for record ${row}`);
}

/** Refuses a list that holds a text twice. Queries would return and count its record twice. */
function checkDistinct({ table }: CollectionLayout, { starts, rows }: PostingImage, column: string): void {
  for (let key = 0; key + 1 < starts.length; key++) {
    for (let i = starts[key] + 1; i < starts[key + 1]; i++) {
      if (rows[i] === rows[i - 1])
        throw inconsistent(`column ${column} of ${table} holds a text of record ${rows[i]} twice`);
    }
  }
}

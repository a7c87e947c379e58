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

/** Builds the indexes over the columns of a list, run by run. */
export class ListIndexes {
  readonly #layout: CollectionLayout;
  readonly #postings: Record<string, PostingIndexBuilder> = {};
  readonly #instants: Record<string, Int64s> = {};

  constructor(layout: CollectionLayout, count: number) {
    this.#layout = layout;
    // Indexes with one key for each row share this array.
    const rowOf = new Uint32Array(count);
    for (const { index, holds } of layout.columns) {
      if (holds === 'instant') this.#instants[index] = new BigInt64Array(count);
      else if (holds === 'text') this.#postings[index] = new PostingIndexBuilder(count, rowOf);
      else this.#postings[index] = new PostingIndexBuilder();
    }
  }

  /** Adds the columns of the next run. Refuses a column without a value for each record. */
  add(run: Run): void {
    const { firstRow } = run.entry;
    for (const { column, index, holds } of this.#layout.columns) {
      if (holds === 'instant') this.#instants[index].set(run.instants(column), firstRow);
      else if (holds === 'text') {
        const { texts, textOf } = run.texts(column);
        this.#postings[index].addEach(firstRow, texts, textOf);
      } else {
        const { texts, counts } = run.lists(column);
        this.#postings[index].addLists(firstRow, texts, counts);
      }
    }
  }

  /** Finishes the indexes. Each one releases its build memory before the next one is finished. */
  finish(): Pick<CollectionImage, 'postings' | 'instants'> {
    const instants: Record<string, RankedInstantImage> = {};
    for (const index in this.#instants) {
      instants[index] = buildInstantIndex(this.#instants[index]);
      Reflect.deleteProperty(this.#instants, index);
    }
    const { columns, composites, postingOrder } = this.#layout;
    const order =
      postingOrder === undefined ? undefined : ([postingOrder, instants[postingOrder].rows] as const);
    const postings: Record<string, PostingImage> = {};
    const finish = (index: string) => {
      postings[index] = this.#postings[index].finish(order);
      Reflect.deleteProperty(this.#postings, index);
    };
    Object.keys(this.#postings)
      .filter((index) => !composites.flat().includes(index))
      .forEach(finish);
    for (const [first, second] of composites) {
      const { [first]: firstBuilder, [second]: secondBuilder } = this.#postings;
      postings[compositeName(first, second)] = firstBuilder.crossedWith(secondBuilder).finish(order);
      [first, second].forEach(finish);
    }
    for (const { column, index, holds } of columns) {
      if (holds === 'list') this.#checkDistinct(postings[index], column);
      else if (isIdentifier(this.#layout, index)) this.#checkNotEmpty(postings[index], column);
    }
    return { postings, instants };
  }

  /** Refuses an empty id. No request can name it, and an import has none. */
  #checkNotEmpty(postings: PostingImage, column: string): void {
    const key = keyNumbers(postings, ['']).at(0);
    if (key === undefined) return;
    const [row] = postingList(postings, key);
    throw inconsistent(`column ${column} of ${this.#layout.table} holds an empty id for record ${row}`);
  }

  /** Refuses a list that holds a text twice. Queries would return and count its record twice. */
  #checkDistinct({ starts, rows }: PostingImage, column: string): void {
    for (let key = 0; key + 1 < starts.length; key++) {
      for (let i = starts[key] + 1; i < starts[key + 1]; i++) {
        if (rows[i] === rows[i - 1])
          throw inconsistent(
            `column ${column} of ${this.#layout.table} holds a text of record ${rows[i]} twice`,
          );
      }
    }
  }
}

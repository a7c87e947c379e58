import { buildInstantIndex, type RankedInstantImage } from '../../store/index/instant-index.ts';
import type { KeyTableImage } from '../../store/index/key-table.ts';
import { compositeName, type PostingImage, PostingIndexBuilder } from '../../store/index/posting-index.ts';
import type { Int64s } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import type { CollectionLayout, ColumnLayout } from '../format/layout.ts';
import type { RunEntry } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { listsOf, type Run, takeInstants, textsOf } from './run-reader.ts';

/** Fills the indexes over the columns of one collection, a run at a time. */
export class CollectionIndexes {
  readonly #layout: CollectionLayout;
  readonly #columns: readonly ColumnLayout[];
  readonly #postings = new Map<string, PostingIndexBuilder>();
  readonly #instants = new Map<string, Int64s>();

  /** @param count rows of the collection */
  constructor(layout: CollectionLayout, columns: readonly ColumnLayout[], count: number) {
    this.#layout = layout;
    this.#columns = columns;
    // Every row has one key in each of the indexes that share it.
    const rowOf = new Uint32Array(count);
    for (const { index, holds } of columns) {
      if (holds === 'instant') this.#instants.set(index, new BigInt64Array(count));
      else if (holds === 'text') this.#postings.set(index, new PostingIndexBuilder(count, rowOf));
      else this.#postings.set(index, new PostingIndexBuilder());
    }
  }

  /**
   * Takes the columns of the next run.
   * @throws RefusedSnapshot when one does not hold a value for each record
   */
  take(entry: RunEntry, run: Run): void {
    const { firstRow } = entry;
    for (const { column, index, holds } of this.#columns) {
      if (holds === 'instant') takeInstants(this.#layout, column, entry, run, this.#instantsOf(index));
      else if (holds === 'text') {
        const { texts, textOf } = textsOf(this.#layout, column, entry, run);
        this.#builder(index).addEach(firstRow, texts, textOf);
      } else {
        const { texts, counts } = listsOf(this.#layout, column, entry, run);
        this.#builder(index).addLists(firstRow, texts, counts);
      }
    }
  }

  /**
   * Finishes the indexes; to be called once. The memory that an index was built from is released before the next is
   * finished.
   * @throws RefusedSnapshot when a list holds a text twice
   */
  finish(): Pick<CollectionImage, 'postings' | 'instants'> {
    const instants: Record<string, RankedInstantImage> = {};
    for (const [index, ofRows] of this.#instants) {
      instants[index] = buildInstantIndex(ofRows);
      this.#instants.delete(index);
    }
    const order = Object.entries(instants).map(([index, { rows }]) => [index, rows] as const);
    const postings: Record<string, PostingImage> = {};
    const { composites } = this.#layout;
    const crossed = new Set(composites.flat());
    const finish = (index: string) => {
      postings[index] = this.#builder(index).finish(order.at(0));
      this.#postings.delete(index);
    };
    for (const index of new Set(this.#postings.keys()).difference(crossed)) finish(index);
    const withListsOf = new Map<string, { second: string; keys: KeyTableImage }>();
    for (const [first, second] of composites) {
      const keys = this.#builder(first).pairsByKeyOf(this.#builder(second));
      if (keys !== undefined) {
        withListsOf.set(compositeName(first, second), { second, keys });
        continue;
      }
      const pairs = this.#builder(first).crossedWith(this.#builder(second));
      postings[compositeName(first, second)] = pairs.finish(order.at(0));
    }
    crossed.forEach(finish);
    for (const [index, { second, keys }] of withListsOf) postings[index] = { ...postings[second], keys };
    for (const { column, index, holds } of this.#columns) {
      if (holds === 'list') this.#checkOnce(postings[index], column);
    }
    return { postings, instants };
  }

  #instantsOf(index: string): Int64s {
    const instants = this.#instants.get(index);
    if (instants === undefined) throw new TypeError(`${this.#layout.name} has no index ${index}`);
    return instants;
  }

  #builder(index: string): PostingIndexBuilder {
    const builder = this.#postings.get(index);
    if (builder === undefined) throw new TypeError(`${this.#layout.name} has no index ${index}`);
    return builder;
  }

  /** Refuses a list that holds a text twice: its record would be listed and counted twice. */
  #checkOnce({ starts, rows }: PostingImage, column: string): void {
    for (let key = 0; key + 1 < starts.length; key++) {
      for (let i = starts[key] + 1; i < starts[key + 1]; i++) {
        if (rows[i] !== rows[i - 1]) continue;
        const message = `column ${column} of ${this.#layout.table} holds a text of record ${rows[i]} twice`;
        throw new RefusedSnapshot('inconsistent', message);
      }
    }
  }
}

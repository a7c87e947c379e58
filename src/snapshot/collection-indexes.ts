import { buildInstantIndex } from '../store/instant-index.ts';
import type { RankedInstantImage } from '../store/instant-index.ts';
import type { KeyTableImage } from '../store/key-table.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import { compositeName, PostingIndexBuilder } from '../store/posting-index.ts';
import type { PostingImage } from '../store/posting-index.ts';
import type { Int64s } from '../store/shared.ts';
import { indexSizes } from './index-sizes.ts';
import type { CollectionLayout, Relation } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import { columnOf, eachValue } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { takeInstants, takeRows } from './take-column.ts';

/** Fills the indexes of one collection, but for that of its ids, from the chunks of its tables. */
export class CollectionIndexes {
  readonly #layout: CollectionLayout;
  readonly #count: number;
  readonly #postings = new Map<string, PostingIndexBuilder>();
  readonly #instants: Map<string, Int64s>;

  constructor(layout: CollectionLayout, organization: ManifestOrganization) {
    const { rowCount } = segmentOf(organization.segments, layout.table);
    this.#layout = layout;
    this.#count = rowCount;
    // Every row has one key in these.
    const rowOf = new Uint32Array(rowCount);
    const perRow = layout.keys.map(({ index }) => index);
    for (const [index, { pairs, keys }] of indexSizes(layout, organization)) {
      const builder = new PostingIndexBuilder(pairs, keys, perRow.includes(index) ? rowOf : undefined);
      this.#postings.set(index, builder);
    }
    this.#instants = new Map(layout.instants.map(({ index }) => [index, new BigInt64Array(rowCount)]));
  }

  /** Takes the columns beside the records of a chunk. */
  takeColumns(chunk: Chunk): void {
    for (const { index, column } of this.#layout.keys) {
      this.#builder(index).addEach(chunk.firstRow, columnOf(chunk, column));
    }
    for (const { index, column } of this.#layout.instants) {
      const instants = this.#instants.get(index);
      if (instants !== undefined) takeInstants(chunk, column, instants);
    }
  }

  /** @throws RefusedSnapshot */
  takeRelation({ index, rowColumn, column, table }: Relation, chunk: Chunk): void {
    const rows = new Uint32Array(chunk.rowCount);
    takeRows(chunk, rowColumn, this.#count, rows, chunk.firstRow);
    const builder = this.#builder(index);
    let previous = 0;
    eachValue(chunk, column, (bytes, start, end, i) => {
      const row = rows[i - chunk.firstRow];
      if (row < previous)
        throw new RefusedSnapshot('inconsistent', `${table} is not in the order of ${rowColumn}`);
      previous = row;
      builder.add(row, bytes, start, end);
    });
  }

  /**
   * To be asked for once. What one index was built from is let go of before the next is finished.
   * @throws RefusedSnapshot
   */
  finish(): Pick<CollectionImage, 'postings' | 'instants'> {
    const instants: Record<string, RankedInstantImage> = {};
    for (const [index, ofRows] of this.#instants) {
      instants[index] = buildInstantIndex(ofRows);
      this.#instants.delete(index);
    }
    const order = Object.entries(instants).map(([index, { rows }]) => [index, rows] as const);
    const postings: Record<string, PostingImage> = {};
    const { composites, relations } = this.#layout;
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
    for (const { index, table } of relations) checkOnce(postings[index], table);
    return { postings, instants };
  }

  #builder(index: string): PostingIndexBuilder {
    const builder = this.#postings.get(index);
    if (builder === undefined) throw new TypeError(`${this.#layout.name} has no index ${index}`);
    return builder;
  }
}

/** A record that stood twice under one value would be listed and counted twice. */
function checkOnce({ starts, rows }: PostingImage, table: string): void {
  for (let key = 0; key + 1 < starts.length; key++) {
    for (let i = starts[key] + 1; i < starts[key + 1]; i++) {
      if (rows[i] === rows[i - 1])
        throw new RefusedSnapshot('inconsistent', `${table} holds a value of one record twice`);
    }
  }
}

import type { Instant } from '../../contract/timestamp.ts';
import {
  buildInstantIndex,
  instantsByRow,
  type RankedInstantImage,
} from '../../store/index/instant-index.ts';
import {
  compositeName,
  keyNumbers,
  type KeysByRow,
  keysByRow,
  type PostingImage,
  PostingIndexBuilder,
  postingList,
} from '../../store/index/posting-index.ts';
import { KeyTableBuilder, keyText } from '../../store/index/key-table.ts';
import type { Int64s, Row } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import { isIdentifier, type CollectionLayout } from '../format/layout.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import type { Block, RecordValue } from './block.ts';

/**
 * Builds the indexes over the columns of a list.
 * Each one releases its build memory before the next one is finished.
 * @throws RefusedSnapshot when a column has invalid values
 */
export function buildIndexes(
  layout: CollectionLayout,
  count: number,
  blocks: Iterable<Block>,
): Pick<CollectionImage, 'postings' | 'instants'> {
  const { columns } = layout;
  const builders: Record<string, PostingIndexBuilder> = {};
  const values: Record<string, Int64s> = {};
  // Indexes with one key for each row share this array.
  const rowOf = new Uint32Array(count);
  for (const { index, holds } of columns) {
    if (holds === 'instant') values[index] = new BigInt64Array(count);
    else
      builders[index] = holds === 'text' ? new PostingIndexBuilder(count, rowOf) : new PostingIndexBuilder();
  }
  for (const block of blocks) {
    const [firstRow] = block.rows;
    for (const [i, { index }] of columns.entries()) {
      const column = block.columns[i];
      if (column.holds === 'instant') values[index].set(column.instants, firstRow);
      else if (column.holds === 'text') builders[index].addEach(firstRow, column.texts);
      else builders[index].addLists(firstRow, column.texts, column.ends);
    }
  }
  return finishIndexes(layout, builders, values);
}

/** A record that the list in memory lacks, or has in another state. */
export interface ChangedRecord {
  readonly row: Row;
  /** JSON text. */
  readonly record: Buffer;
  readonly hash: number;
  readonly values: readonly RecordValue[];
  readonly changedAt: Instant;
}

/** Where the rows of a list come from. */
export interface Origins {
  /** By row: the row in the list in memory, or -1 less the position among the changed records. */
  readonly origins: Int32Array;
  readonly changed: readonly ChangedRecord[];
}

/** The index columns of a list in memory, by row. */
export class EarlierColumns {
  readonly layout: CollectionLayout;
  readonly image: CollectionImage;
  readonly keys: Readonly<Record<string, KeysByRow>>;
  readonly instants: Readonly<Record<string, Int64s>>;

  constructor(layout: CollectionLayout, image: CollectionImage) {
    this.layout = layout;
    this.image = image;
    const { postings, instants } = image;
    const indexes = (isInstant: boolean) =>
      layout.columns.filter(({ holds }) => (holds === 'instant') === isInstant).map(({ index }) => index);
    this.keys = Object.fromEntries(
      indexes(false).map((index) => [index, keysByRow(postings[index], image.count)]),
    );
    this.instants = Object.fromEntries(indexes(true).map((index) => [index, instantsByRow(instants[index])]));
  }

  /** Returns the values of a record as JSON with commas between them, lists in ascending order. */
  valuesAt(row: Row): string {
    const values = this.layout.columns.map(({ index, holds }) => {
      if (holds === 'instant') return String(this.instants[index][row]);
      const table = this.image.postings[index].keys;
      const { firsts, keys } = this.keys[index];
      const ofRow = keys.subarray(firsts[row], firsts[row + 1]);
      const texts = Array.from(ofRow, (key) => keyText(table, key)).sort();
      return JSON.stringify(holds === 'text' ? texts[0] : texts);
    });
    return values.join();
  }
}

/** Builds the indexes of a list that continues one in memory, whose keys are not interned again. */
export function continueIndexes(
  columns: EarlierColumns,
  { origins, changed }: Origins,
): Pick<CollectionImage, 'postings' | 'instants'> {
  const { layout, image } = columns;
  const builders: Record<string, PostingIndexBuilder> = {};
  const values: Record<string, Int64s> = {};
  const rowOf = new Uint32Array(origins.length);
  for (const [i, { index, holds }] of layout.columns.entries()) {
    if (holds === 'instant') {
      const instants = (values[index] = new BigInt64Array(origins.length));
      const { [index]: earlier } = columns.instants;
      for (let row = 0; row < origins.length; row++) {
        const origin = origins[row];
        instants[row] = origin < 0 ? instantIn(changed[-1 - origin].values[i]) : earlier[origin];
      }
      continue;
    }
    const { keys, rows } = image.postings[index];
    const table = KeyTableBuilder.from(keys);
    const builder =
      holds === 'text'
        ? new PostingIndexBuilder(origins.length, rowOf, table)
        : new PostingIndexBuilder(rows.length, undefined, table);
    builder.addContinued(origins, columns.keys[index], (origin) => textsIn(changed[-1 - origin].values[i]));
    builders[index] = builder.withoutUnusedKeys();
  }
  return finishIndexes(layout, builders, values);
}

function instantIn(value: RecordValue): Instant {
  return typeof value === 'bigint' ? value : 0n;
}

function textsIn(value: RecordValue): readonly string[] {
  return typeof value === 'bigint' ? [] : value;
}

/** Finishes indexes, and empties both records on the way: each index releases its build memory. */
function finishIndexes(
  layout: CollectionLayout,
  builders: Record<string, PostingIndexBuilder>,
  values: Record<string, Int64s>,
): Pick<CollectionImage, 'postings' | 'instants'> {
  const { columns, composites, postingOrder } = layout;
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
function checkNotEmpty({ name }: CollectionLayout, postings: PostingImage, column: string): void {
  const key = keyNumbers(postings, ['']).at(0);
  if (key === undefined) return;
  const [row] = postingList(postings, key);
  throw inconsistent(`column ${column} of ${name} holds an empty id for record ${row}`);
}

/** Refuses a list that holds a text twice. Queries would return and count its record twice. */
function checkDistinct({ name }: CollectionLayout, { starts, rows }: PostingImage, column: string): void {
  for (let key = 0; key + 1 < starts.length; key++) {
    for (let i = starts[key] + 1; i < starts[key + 1]; i++) {
      if (rows[i] === rows[i - 1])
        throw inconsistent(`column ${column} of ${name} holds a text of record ${rows[i]} twice`);
    }
  }
}

import { IdIndexBuilder, recordPrefix } from '../store/id-index.ts';
import { buildInstantIndex } from '../store/instant-index.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import { PostingIndexBuilder } from '../store/posting-index.ts';
import type { PostingImage } from '../store/posting-index.ts';
import { COMMA } from '../store/records.ts';
import { sharedBytes, sharedFloats } from '../store/shared.ts';
import type { Bytes, Floats, Int64s } from '../store/shared.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { RefusalReason } from './refused-snapshot.ts';
import type { CollectionLayout, Relation } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import { columnOf, eachValue, readBigInt, readNumber, readText } from './read-table.ts';
import type { Chunk } from './read-table.ts';

/** Fills the image of one collection from the chunks of its tables. */
export class CollectionLoader {
  readonly count: number;
  readonly #layout: CollectionLayout;
  readonly #bytes: Bytes;
  readonly #offsets: Floats;
  readonly #prefix: Buffer;
  readonly #ids: IdIndexBuilder;
  readonly #keys: ReadonlyMap<string, PostingIndexBuilder>;
  readonly #relations: ReadonlyMap<string, PostingIndexBuilder>;
  readonly #instants: ReadonlyMap<string, Int64s>;

  constructor(layout: CollectionLayout, { segments }: ManifestOrganization) {
    const { rowCount, recordBytes } = segmentOf(segments, layout.table);
    this.count = rowCount;
    this.#layout = layout;
    this.#bytes = sharedBytes(recordBytes + rowCount);
    this.#offsets = sharedFloats(rowCount + 1);
    this.#prefix = Buffer.from(recordPrefix(layout.resource.id) + '"');
    this.#ids = new IdIndexBuilder(rowCount, layout.resource.id);
    this.#keys = new Map(layout.keys.map(({ index }) => [index, new PostingIndexBuilder(rowCount)]));
    this.#relations = new Map(
      layout.relations.map(({ index, table }) => [
        index,
        new PostingIndexBuilder(segmentOf(segments, table).rowCount),
      ]),
    );
    this.#instants = new Map(layout.instants.map(({ index }) => [index, new BigInt64Array(rowCount)]));
  }

  takeRecords(chunk: Chunk): void {
    this.#copyRecords(chunk);
    this.#indexIds(chunk);
    for (const { index, column } of this.#layout.keys) {
      const builder = this.#keys.get(index);
      eachValue(chunk, column, (bytes, start, end, row) => builder?.add(row, bytes, start, end));
    }
    for (const { index, column } of this.#layout.instants)
      takeInstants(chunk, column, this.#instants.get(index));
  }

  takeRelation({ index, rowColumn, column, table }: Relation, chunk: Chunk): void {
    const rows = new Uint32Array(chunk.rowCount);
    takeRows(chunk, rowColumn, this.count, rows, chunk.firstRow);
    const builder = this.#relations.get(index);
    let previous = 0;
    eachValue(chunk, column, (bytes, start, end, i) => {
      const row = rows[i - chunk.firstRow];
      if (row < previous)
        throw new RefusedSnapshot('inconsistent', `${table} is not in the order of ${rowColumn}`);
      previous = row;
      builder?.add(row, bytes, start, end);
    });
  }

  /** @throws RefusedSnapshot */
  finish(): CollectionImage {
    if (this.#offsets[this.count] !== this.#bytes.length) {
      throw new RefusedSnapshot(
        'inconsistent',
        `the records of ${this.#layout.table} are not as long as its segment says`,
      );
    }
    const postings: Record<string, PostingImage> = {};
    for (const [index, builder] of [...this.#keys, ...this.#relations]) postings[index] = builder.finish();
    for (const { index, table } of this.#layout.relations) checkOnce(postings[index], table);
    return {
      count: this.count,
      records: { bytes: this.#bytes, offsets: this.#offsets },
      ids: this.#ids.finish(),
      postings,
      instants: Object.fromEntries(
        [...this.#instants].map(([index, instants]) => [index, buildInstantIndex(instants)]),
      ),
    };
  }

  /** Lays the records of a chunk behind those before it, a comma after each. */
  #copyRecords(chunk: Chunk): void {
    const records = columnOf(chunk, 'record');
    const base = this.#offsets[chunk.firstRow];
    if (base + records.length + 1 > this.#bytes.length) {
      throw new RefusedSnapshot(
        'inconsistent',
        `the records of ${this.#layout.table} are longer than its segment says`,
      );
    }
    this.#bytes.set(records, base);
    eachValue(chunk, 'record', (bytes, start, end, row) => {
      for (let i = 0; i < this.#prefix.length; i++) {
        if (bytes[start + i] !== this.#prefix[i]) {
          throw new RefusedSnapshot(
            'inconsistent',
            `record ${row} of ${this.#layout.table} does not begin with its id`,
          );
        }
      }
      if (bytes[end - 1] !== BRACE) {
        throw new RefusedSnapshot(
          'inconsistent',
          `record ${row} of ${this.#layout.table} does not end with }`,
        );
      }
      this.#bytes[base + end] = COMMA;
      this.#offsets[row + 1] = base + end + 1;
    });
  }

  #indexIds(chunk: Chunk): void {
    const records = { bytes: this.#bytes, offsets: this.#offsets };
    eachValue(chunk, this.#layout.idColumn, (bytes, start, end, row) => {
      if (!this.#beginsWithId(row, bytes, start, end)) {
        throw new RefusedSnapshot(
          'inconsistent',
          `record ${row} of ${this.#layout.table} does not begin with its id: ` +
            `${this.#layout.idColumn} is "${readText(bytes, start, end)}"`,
        );
      }
      const other = this.#ids.add(records, row, bytes, start, end);
      if (other >= 0) {
        const id = readText(bytes, start, end);
        throw new RefusedSnapshot(
          'duplicate-id',
          `${this.#layout.table} holds ${this.#layout.resource.id} "${id}" twice`,
        );
      }
    });
  }

  /** Whether the id is what the record begins with, in the one form in which JSON.stringify writes it. */
  #beginsWithId(row: number, bytes: Bytes, start: number, end: number): boolean {
    const from = this.#offsets[row] + this.#prefix.length;
    let isPlain = this.#bytes[from + end - start] === QUOTE;
    for (let i = start, at = from; isPlain && i < end; i++, at++) {
      const byte = bytes[i];
      isPlain = byte === this.#bytes[at] && byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH;
    }
    if (isPlain) return true;
    const json = Buffer.from(JSON.stringify(readText(bytes, start, end)));
    return json.equals(this.#bytes.subarray(from - 1, from - 1 + json.length));
  }
}

const BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A record that stood twice under one value would be listed and counted twice. */
function checkOnce({ starts, rows }: PostingImage, table: string): void {
  for (let key = 0; key + 1 < starts.length; key++) {
    for (let i = starts[key] + 1; i < starts[key + 1]; i++) {
      if (rows[i] === rows[i - 1])
        throw new RefusedSnapshot('inconsistent', `${table} holds a value of one record twice`);
    }
  }
}

/** Reads a column of instants into `instants`, by row. */
export function takeInstants(chunk: Chunk, column: string, instants: Int64s | undefined): void {
  eachValue(chunk, column, (bytes, start, end, row) => {
    if (instants !== undefined) instants[row] = readBigInt(bytes, start, end);
  });
}

/**
 * Reads a column of rows of a table that has `count` into `rows`, whose first element is row `base` of the chunk's.
 * @param reason for which the snapshot is refused when a row is not there
 */
export function takeRows(
  chunk: Chunk,
  column: string,
  count: number,
  rows: Uint32Array,
  base: number,
  reason: RefusalReason = 'inconsistent',
): void {
  eachValue(chunk, column, (bytes, start, end, row) => {
    const value = readNumber(bytes, start, end);
    if (!(value >= 0 && value < count))
      throw new RefusedSnapshot(reason, `${column} names a row that is not there`);
    rows[row - base] = value;
  });
}

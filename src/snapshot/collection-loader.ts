import { IdIndexBuilder, recordPrefix } from '../store/id-index.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import { COMMA } from '../store/records.ts';
import { sharedBytes, sharedFloats } from '../store/shared.ts';
import type { Bytes, Floats } from '../store/shared.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { CollectionLayout, Relation } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import { columnOf, eachValue, readText } from './read-table.ts';
import type { Chunk } from './read-table.ts';

/** Fills the image of one collection from the chunks of its tables. */
export class CollectionLoader {
  readonly count: number;
  readonly #layout: CollectionLayout;
  readonly #bytes: Bytes;
  readonly #offsets: Floats;
  readonly #prefix: Buffer;
  readonly #ids: IdIndexBuilder;
  readonly #indexes: CollectionIndexes;

  constructor(layout: CollectionLayout, organization: ManifestOrganization) {
    const { rowCount, recordBytes } = segmentOf(organization.segments, layout.table);
    this.count = rowCount;
    this.#layout = layout;
    this.#bytes = sharedBytes(recordBytes + rowCount);
    this.#offsets = sharedFloats(rowCount + 1);
    this.#prefix = Buffer.from(recordPrefix(layout.resource.id) + '"');
    this.#ids = new IdIndexBuilder(rowCount, layout.resource.id);
    this.#indexes = new CollectionIndexes(layout, organization);
  }

  takeRecords(chunk: Chunk): void {
    this.#copyRecords(chunk);
    this.#indexIds(chunk);
    this.#indexes.takeColumns(chunk);
  }

  takeRelation(relation: Relation, chunk: Chunk): void {
    this.#indexes.takeRelation(relation, chunk);
  }

  /** @throws RefusedSnapshot */
  finish(): CollectionImage {
    if (this.#offsets[this.count] !== this.#bytes.length) {
      throw new RefusedSnapshot(
        'inconsistent',
        `the records of ${this.#layout.table} are not as long as its segment says`,
      );
    }
    return {
      count: this.count,
      records: { bytes: this.#bytes, offsets: this.#offsets },
      ids: this.#ids.finish(),
      ...this.#indexes.finish(),
    };
  }

  /** Lays the records of a chunk behind those before it, a comma after each. */
  #copyRecords(chunk: Chunk): void {
    const { bytes, ends } = columnOf(chunk, 'record');
    const base = this.#offsets[chunk.firstRow];
    if (base + bytes.length + 1 > this.#bytes.length) {
      throw new RefusedSnapshot(
        'inconsistent',
        `the records of ${this.#layout.table} are longer than its segment says`,
      );
    }
    const prefix = this.#prefix;
    const copies = this.#bytes;
    const offsets = this.#offsets;
    copies.set(bytes, base);
    for (let i = 0, start = 0; i < ends.length; i++) {
      const end = ends[i];
      for (let j = 0; j < prefix.length; j++) {
        if (bytes[start + j] !== prefix[j]) throw this.#misshapen(chunk.firstRow + i, 'begin with its id');
      }
      if (bytes[end - 1] !== BRACE) throw this.#misshapen(chunk.firstRow + i, 'end with }');
      copies[base + end] = COMMA;
      offsets[chunk.firstRow + i + 1] = base + end + 1;
      start = end + 1;
    }
  }

  #misshapen(row: number, rule: string): RefusedSnapshot {
    return new RefusedSnapshot('inconsistent', `record ${row} of ${this.#layout.table} does not ${rule}`);
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

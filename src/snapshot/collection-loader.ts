import { IdIndexBuilder, recordPrefix } from '../store/id-index.ts';
import type { CollectionImage } from '../store/organization-image.ts';
import type { Bytes } from '../store/shared.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { CollectionLayout, Relation } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import type { TableTaker } from './read-content.ts';
import { eachValue, readText } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { RecordsBuilder } from './records-builder.ts';

/** Fills the image of one collection from the chunks of its tables. */
export class CollectionLoader implements TableTaker {
  readonly count: number;
  readonly records: RecordsBuilder;
  readonly #layout: CollectionLayout;
  /** Where the id begins in a record. */
  readonly #idStart: number;
  readonly #ids: IdIndexBuilder;
  readonly #indexes: CollectionIndexes;

  constructor(layout: CollectionLayout, organization: ManifestOrganization) {
    const segment = segmentOf(organization.segments, layout.table);
    this.count = segment.rowCount;
    this.records = new RecordsBuilder(layout, segment);
    this.#layout = layout;
    this.#idStart = recordPrefix(layout.resource.id).length + 1;
    this.#ids = new IdIndexBuilder(this.count, layout.resource.id);
    this.#indexes = new CollectionIndexes(layout, organization);
  }

  /** Takes the columns beside records that were taken. */
  take(chunk: Chunk): void {
    this.#indexIds(chunk);
    this.#indexes.takeColumns(chunk);
  }

  takeRelation(relation: Relation, chunk: Chunk): void {
    this.#indexes.takeRelation(relation, chunk);
  }

  /** @throws RefusedSnapshot */
  finish(): CollectionImage {
    return {
      count: this.count,
      records: this.records.finish(),
      ids: this.#ids.finish(),
      ...this.#indexes.finish(),
    };
  }

  #indexIds(chunk: Chunk): void {
    const records = this.records.image;
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
    const { bytes: records, offsets } = this.records.image;
    const from = offsets[row] + this.#idStart;
    let isPlain = records[from + end - start] === QUOTE;
    for (let i = start, at = from; isPlain && i < end; i++, at++) {
      const byte = bytes[i];
      isPlain = byte === records[at] && byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH;
    }
    if (isPlain) return true;
    const json = Buffer.from(JSON.stringify(readText(bytes, start, end)));
    return json.equals(records.subarray(from - 1, from - 1 + json.length));
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

import { isUtf8 } from 'node:buffer';
import { IdIndexBuilder } from '../../store/id-index.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import { decodeText } from '../../store/texts.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { rowCount } from '../format/manifest.ts';
import type { ManifestOrganization, RunEntry } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { RECORDS_COLUMN } from '../format/schema.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import { RecordsLoader } from './records-loader.ts';
import { checkRunDigest, columnOf, heldTwice, lengthsOf } from './run-reader.ts';
import type { Run } from './run-reader.ts';

/** Fills the image of one collection of an organization from its runs. */
export class CollectionLoader {
  readonly count: number;
  readonly #layout: CollectionLayout;
  readonly #organizationId: string;
  readonly #records: RecordsLoader;
  readonly #ids: IdIndexBuilder;
  readonly #indexes: CollectionIndexes;

  /** @param columns the columns to be indexed */
  constructor(
    layout: CollectionLayout,
    { organizationId, runs }: ManifestOrganization,
    columns = layout.columns,
  ) {
    this.count = rowCount(runs[layout.name]);
    this.#layout = layout;
    this.#organizationId = organizationId;
    this.#records = new RecordsLoader(layout, runs[layout.name]);
    this.#ids = new IdIndexBuilder(this.count, layout.resource.id);
    this.#indexes = new CollectionIndexes(layout, columns, this.count);
  }

  /**
   * Takes the next run: copies its records, checks the digest over the copy, which is what is served, and indexes it.
   * @throws RefusedSnapshot
   */
  take(entry: RunEntry, run: Run): void {
    const { firstRow, recordBytes } = entry;
    const records = columnOf(run, RECORDS_COLUMN);
    if (records.length !== recordBytes) {
      checkRunDigest(this.#layout, this.#organizationId, entry, run);
      throw this.#refused(`have ${records.length} bytes at row ${firstRow}, "runs" has ${recordBytes}`);
    }
    const copy = this.#records.copy(records);
    checkRunDigest(this.#layout, this.#organizationId, entry, new Map(run).set(RECORDS_COLUMN, copy));
    if (!isUtf8(copy)) throw this.#refused(`at row ${firstRow} are not UTF-8`);
    const ids = this.#records.divide(copy, lengthsOf(this.#layout, entry, run));
    const twice = this.#ids.addEach(this.#records.image, firstRow, ids);
    if (twice !== undefined) throw heldTwice(this.#layout, decodeText(ids, twice));
    this.#indexes.take(entry, run);
  }

  #refused(problem: string): RefusedSnapshot {
    return new RefusedSnapshot('inconsistent', `the records of ${this.#layout.table} ${problem}`);
  }

  /**
   * Finishes the image, once all runs were taken.
   * @throws RefusedSnapshot
   */
  finish(): CollectionImage {
    return {
      count: this.count,
      records: this.#records.image,
      ids: this.#ids.finish(),
      ...this.#indexes.finish(),
    };
  }
}

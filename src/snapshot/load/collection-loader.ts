import { IdIndexBuilder } from '../../store/index/id-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { rowCount, type RunEntry } from '../format/manifest.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import type { RecordForm } from './record-form.ts';
import { RecordsLoader } from './records-loader.ts';
import { duplicateId, type Run } from './run-reader.ts';

/** Builds the image of one collection of an organization, run by run. Refuses a run that is not valid. */
export class CollectionLoader {
  readonly #count: number;
  readonly #layout: CollectionLayout;
  readonly #records: RecordsLoader;
  readonly #ids: IdIndexBuilder;
  readonly #indexes: CollectionIndexes;

  /** @param form the form to check the records for; undefined when they are not parsed */
  constructor(layout: CollectionLayout, runs: readonly RunEntry[], form: RecordForm | undefined) {
    this.#count = rowCount(runs);
    this.#layout = layout;
    this.#records = new RecordsLoader(layout, layout.resource.id, runs, form);
    this.#ids = new IdIndexBuilder(this.#count, layout.resource.id);
    this.#indexes = new CollectionIndexes(layout, this.#count);
  }

  /** Copies, checks and indexes the next run. */
  add(run: Run): void {
    const ids = this.#records.add(run);
    const repeated = this.#ids.addEach(this.#records.image, run.entry.firstRow, ids);
    if (repeated !== undefined) throw duplicateId(this.#layout, decodeText(ids, repeated));
    this.#indexes.add(run);
  }

  /** Finishes the image after the last run. */
  finish(): CollectionImage {
    const { image } = this.#records;
    return { count: this.#count, records: image, ids: this.#ids.finish(), ...this.#indexes.finish() };
  }
}

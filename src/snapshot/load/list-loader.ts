import { IdIndexBuilder } from '../../store/index/id-index.ts';
import { decodeText, type Texts } from '../../store/index/texts.ts';
import type { CollectionImage, ListImage } from '../../store/organization-image.ts';
import type { RecordsImage } from '../../store/records.ts';
import type { ListLayout } from '../format/layout.ts';
import { rowCount, type RunEntry } from '../format/manifest.ts';
import { ListIndexes } from './list-indexes.ts';
import type { RecordForm } from './record-form.ts';
import { copyRecords, newRecords } from './records-loader.ts';
import { duplicateId, type Run } from './run-reader.ts';

export interface StoredList {
  readonly layout: ListLayout;
  readonly entries: readonly RunEntry[];
  /** The runs of the entries, in order. Each is read when its predecessor is loaded. */
  readonly runs: Iterable<Run>;
}

/**
 * Loads a collection. Refuses a run that is not valid.
 * @param form the form to check the records for; undefined when they are not parsed
 * @param addRun called with each run when its records are in place
 */
export function loadCollection(
  list: StoredList,
  form: RecordForm | undefined,
  addRun?: (run: Run) => void,
): CollectionImage {
  const { layout, entries } = list;
  const ids = new IdIndexBuilder(rowCount(entries), layout.resource.id);
  const image = loadList(list, layout.resource.id, form, (run, records, texts) => {
    const repeated = ids.addEach(records, run.entry.firstRow, texts);
    if (repeated !== undefined) throw duplicateId(layout, decodeText(texts, repeated));
    addRun?.(run);
  });
  return { ...image, ids: ids.finish() };
}

/**
 * Loads the records of a list, and indexes its columns. Refuses a run that is not valid.
 * @param firstField the first field of every record, a text that is not empty
 * @param form the form to check the records for; undefined when they are not parsed
 * @param addRun called with each run, the records until then, and the first values of those of the run
 */
export function loadList(
  { layout, entries, runs }: StoredList,
  firstField: string,
  form: RecordForm | undefined,
  addRun: (run: Run, records: RecordsImage, values: Texts) => void,
): ListImage {
  const records = newRecords(entries);
  const indexes = new ListIndexes(layout, rowCount(entries));
  for (const run of runs) {
    addRun(run, records, copyRecords(run, records, firstField, form));
    indexes.add(run);
  }
  return { count: rowCount(entries), records, ...indexes.finish() };
}

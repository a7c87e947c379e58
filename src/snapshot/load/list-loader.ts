import type { Instant } from '../../contract/timestamp.ts';
import { IdIndexBuilder } from '../../store/index/id-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import { type InstantImage, instantImage } from '../../store/index/instant-index.ts';
import type { CollectionImage, HistoryImage } from '../../store/organization-image.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { rowCount, type RunEntry } from '../format/manifest.ts';
import { ListIndexes } from './list-indexes.ts';
import type { RecordForm } from './record-form.ts';
import { copyRecords, newRecords } from './records-loader.ts';
import { duplicateId, type Run } from './run-reader.ts';

export interface StoredList {
  readonly layout: CollectionLayout;
  readonly entries: readonly RunEntry[];
  /** The runs of the entries, in order. Each is read when its predecessor is loaded. */
  readonly runs: Iterable<Run>;
  /** The times for which changes are known. */
  readonly range: Pick<HistoryImage, 'since' | 'until'>;
}

export interface LoadedCollection {
  readonly image: CollectionImage;
  readonly changed: InstantImage;
}

/**
 * Loads the records of a collection, indexes their ids and columns, and reads their changes. Refuses a run that is not
 * valid.
 * @param form the form to check the records for; undefined when they are not parsed
 * @param addRun called with each run when its records are in place
 */
export function loadCollection(
  { layout, entries, runs, range }: StoredList,
  form: RecordForm | undefined,
  addRun?: (run: Run) => void,
): LoadedCollection {
  const count = rowCount(entries);
  const records = newRecords(entries);
  const ids = new IdIndexBuilder(count, layout.resource.id);
  const indexes = new ListIndexes(layout, count);
  const changedRows: number[] = [];
  const changeInstants: Instant[] = [];
  for (const run of runs) {
    const texts = copyRecords(run, records, form);
    const repeated = ids.addEach(records, run.entry.firstRow, texts);
    if (repeated !== undefined) throw duplicateId(layout, decodeText(texts, repeated));
    addRun?.(run);
    indexes.add(run);
    const { times, of } = run.changes(range.until);
    if (times.every(({ instant }) => instant <= range.since)) continue;
    for (const [i, position] of of.entries()) {
      const { instant } = times[position];
      if (instant <= range.since) continue;
      changedRows.push(run.entry.firstRow + i);
      changeInstants.push(instant);
    }
  }
  const image = { count, records, ...indexes.finish(), ids: ids.finish() };
  return { image, changed: instantImage(BigInt64Array.from(changeInstants), changedRows) };
}

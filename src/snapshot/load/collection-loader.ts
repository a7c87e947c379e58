import { isUtf8 } from 'node:buffer';
import type { Instant } from '../../contract/timestamp.ts';
import { addIds, newIdIndex } from '../../store/index/id-index.ts';
import { sameBytes } from '../../store/index/key-table.ts';
import { decodeText, hashText } from '../../store/index/texts.ts';
import { type InstantImage, instantImage } from '../../store/index/instant-index.ts';
import type { Uint32s } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage, HistoryImage, ListImage } from '../../store/organization-image.ts';
import {
  COMMA,
  firstValueOf,
  keyOfRun,
  newRun,
  placesOf,
  recordAt,
  recordPrefix,
  type RecordRun,
  type SharedRun,
  type SharedRuns,
} from '../../store/records.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { isPacked, rowCount, type RunEntry } from '../format/manifest.ts';
import { inconsistent, type RefusedSnapshot } from '../format/refused-snapshot.ts';
import { MAX_RECORD_BYTES, recordDigest, sumText } from '../format/schema.ts';
import { readText, textSpace } from './column-values.ts';
import { buildIndexes } from './list-indexes.ts';
import type { RecordForm } from './record-form.ts';
import { duplicateId, type Run } from './run-reader.ts';

export interface StoredList {
  readonly layout: CollectionLayout;
  readonly entries: readonly RunEntry[];
  /** The runs of the entries, in order. Each is read when its predecessor is loaded. */
  readonly runs: Iterable<Run>;
  readonly organizationId: string;
  /** Runs in memory, which are not copied. */
  readonly knownRuns: SharedRuns;
  /** The list in memory. Of a known list, the digests are checked, and the changes read. */
  readonly known: ListImage | undefined;
  readonly range: Pick<HistoryImage, 'since' | 'until'>;
}

export interface LoadedCollection {
  readonly image: CollectionImage;
  readonly changed: InstantImage;
}

/**
 * Loads the records of a collection, indexes their ids and columns, and reads their changes. Refuses a run that is not
 * valid. A known list is not made again.
 * @param form the form to check the records for; undefined when they are not parsed
 * @param onRun called with each run when its records are in place
 */
export function loadCollection(
  list: StoredList,
  form?: RecordForm,
  onRun?: (run: Run) => void,
): LoadedCollection {
  const changedRows: number[] = [];
  const changeInstants: Instant[] = [];
  const { since, until } = list.range;
  const runs = function* () {
    for (const run of list.runs) {
      yield run;
      const { times, of } = run.changes(until);
      if (times.every(({ instant }) => instant <= since)) continue;
      for (const [i, position] of of.entries()) {
        const { instant } = times[position];
        if (instant <= since) continue;
        changedRows.push(run.entry.firstRow + i);
        changeInstants.push(instant);
      }
    }
  };
  const known = list.known?.collections[list.layout.name];
  if (known !== undefined) for (const run of runs()) run.checkDigest();
  const image = known ?? newCollection(list, runs(), form, onRun);
  return { image, changed: instantImage(BigInt64Array.from(changeInstants), changedRows) };
}

function newCollection(
  { layout, organizationId, entries, knownRuns }: StoredList,
  stored: Iterable<Run>,
  form: RecordForm | undefined,
  onRun?: (run: Run) => void,
): CollectionImage {
  const count = rowCount(entries);
  const runs: RecordRun[] = [];
  const records = { runs, ...placesOf(entries.map(({ recordCount }) => recordCount)) };
  const ids = newIdIndex(count, layout.resource.id);
  const load = function* () {
    for (const run of stored) {
      const key = keyOfRun(organizationId, run.entry.digest);
      runs.push(loadRecords(run, knownRuns.get(key), isPacked(entries) ? undefined : key, form));
      const repeated = addIds(ids, records, runs.length - 1);
      if (repeated !== undefined)
        throw duplicateId(layout, String(JSON.parse(firstValueOf(recordAt(records, repeated)).toString())));
      onRun?.(run);
      yield run;
    }
  };
  return { count, records, ids, ...buildIndexes(layout, count, load()) };
}

const BRACE = 0x7d;

/**
 * Checks and divides the records of a run, and copies them if they are not known. Returns them with their ids.
 * The digest is checked over a copy, so it covers the bytes that are served.
 * @throws RefusedSnapshot
 */
function loadRecords(
  run: Run,
  known: SharedRun | undefined,
  key: string | undefined,
  form: RecordForm | undefined,
): RecordRun | SharedRun {
  const { layout, records } = run;
  const { firstRow, recordCount, recordBytes } = run.entry;
  if (records.length !== recordBytes) {
    run.checkDigest();
    const found = `have ${records.length} bytes at row ${firstRow}, "runs" declares ${recordBytes}`;
    throw inconsistent(`the records of ${layout.table} ${found}`);
  }
  if (known !== undefined) {
    run.checkDigest();
    return known;
  }
  const loaded = newRun(recordCount, recordBytes + 1);
  const { bytes, offsets, idHashes } = loaded;
  bytes.set(records);
  bytes[recordBytes] = COMMA;
  const copy = Buffer.from(bytes.buffer, bytes.byteOffset, recordBytes);
  run.checkDigest(copy);
  if (!isUtf8(copy)) throw inconsistent(`the records of ${layout.table} at row ${firstRow} are not UTF-8`);
  const divided = divideRecords(run, copy);
  offsets.set(divided.offsets);
  if (form !== undefined) checkForm(form, run, copy, offsets);
  for (let i = 0; i < recordCount; i++) idHashes[i] = hashText(divided.ids, i);
  return key === undefined ? loaded : { ...loaded, key };
}

function checkForm(form: RecordForm, { layout, entry }: Run, records: Buffer, offsets: Uint32s): void {
  for (let i = 0; i + 1 < offsets.length; i++) {
    if (form.read(records.toString('latin1', offsets[i], offsets[i + 1] - 1)) === undefined)
      throw refused(layout, entry.firstRow + i, `is not ${form.name}`);
  }
}

/**
 * Checks the form of the records of a loaded run, if one is given, and the sum of their digests.
 * @throws RefusedSnapshot
 */
export function checkRecords(run: Run, form: RecordForm | undefined): void {
  const { layout, entry, records } = run;
  const { offsets } = divideRecords(run);
  if (form !== undefined) checkForm(form, run, records, offsets);
  let sum = 0n;
  for (let i = 0; i < entry.recordCount; i++) {
    const record = records.toString('utf8', offsets[i], offsets[i + 1] - 1);
    sum += recordDigest(layout.name, run.valuesAt(i), record);
  }
  if (sumText(sum) !== entry.recordsSum)
    throw inconsistent(
      `the records of ${layout.table} at row ${entry.firstRow} do not have the records_sum that "runs" declares`,
    );
}

/**
 * Divides the records of a run by their declared lengths, and reads their ids.
 * @param bytes the records, or a copy of them
 * @returns the ids, and the offset of each record, and of the end, as if a comma followed the last record
 * @throws RefusedSnapshot when a record differs from its declared length, is too large, or does not begin with its id
 */
export function divideRecords(run: Run, bytes: Buffer = run.records) {
  const { layout } = run;
  const { id } = layout.resource;
  const refuse = (i: number, problem: string): never => {
    throw refused(layout, run.entry.firstRow + i, problem);
  };
  const prefix = Buffer.from(recordPrefix(id));
  const lengths = run.lengths();
  const count = lengths.length;
  const offsets = new Uint32Array(count + 1);
  const ids = textSpace(bytes, count);
  for (let i = 0; i < count; i++) {
    const end = offsets[i] + lengths[i];
    const isLast = i + 1 === count;
    if (isLast ? end !== bytes.length : bytes[end] !== COMMA) refuse(i, 'differs from its declared length');
    if (lengths[i] > MAX_RECORD_BYTES) refuse(i, `exceeds ${MAX_RECORD_BYTES} bytes`);
    if (bytes[end - 1] !== BRACE) refuse(i, 'does not end with }');
    offsets[i + 1] = end + 1;
    const start = offsets[i] + prefix.length;
    const idEnd = readText(ids, i, start);
    const hasPrefix = sameBytes(bytes, offsets[i], start, prefix, 0, prefix.length);
    const isText = idEnd > 0 && idEnd < end && ids.ends[i] > ids.starts[i];
    // Look-ups compare ids in the form of JSON.stringify. Few ids are escaped.
    const isEscaped = ids.ends[i] < idEnd - 1;
    const isOtherForm =
      isEscaped && JSON.stringify(decodeText(ids, i)) !== bytes.toString('utf8', start, idEnd);
    if (!hasPrefix || !isText || isOtherForm) refuse(i, `does not begin with its ${id}`);
  }
  return { offsets, ids };
}

function refused({ table }: CollectionLayout, row: number, problem: string): RefusedSnapshot {
  return inconsistent(`record ${row} of ${table} ${problem}`);
}

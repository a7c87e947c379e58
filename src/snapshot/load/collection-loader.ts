import { isUtf8 } from 'node:buffer';
import type { Instant } from '../../contract/timestamp.ts';
import { addIds, newIdIndex } from '../../store/index/id-index.ts';
import { sameBytes } from '../../store/index/key-table.ts';
import { type InstantImage, instantImage } from '../../store/index/instant-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import type { Uint32s } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage, HistoryImage, ListImage } from '../../store/organization-image.ts';
import type { KnownList } from '../../store/registry/store-view.ts';
import { RecordsBuilder } from '../../store/records-builder.ts';
import { COMMA, firstValueOf, recordAt, recordPrefix, type RecordsImage } from '../../store/records.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { isPacked, recordBytes, recordsSum, rowCount, type RunEntry } from '../format/manifest.ts';
import { inconsistent, type RefusedSnapshot } from '../format/refused-snapshot.ts';
import { MAX_RECORD_BYTES } from '../format/schema.ts';
import { readText, textSpace } from './column-values.ts';
import { buildIndexes } from './list-indexes.ts';
import { KnownRecords } from './known-records.ts';
import type { RecordForm } from './record-form.ts';
import { duplicateId, type Run } from './run-reader.ts';

/** A list in memory from which a new one descends. */
export interface Predecessor {
  readonly image: CollectionImage;
  /** Production time of its snapshot. */
  readonly until: Instant;
  readonly changed: InstantImage;
  /** Ids of the records that were deleted since. */
  readonly deleted: readonly string[];
}

export interface StoredList {
  readonly layout: CollectionLayout;
  readonly entries: readonly RunEntry[];
  /** Those of its runs that are read, in order, their digests checked. Each is taken when the one before it is loaded. */
  readonly runs: Iterable<Run>;
  /** Lists in memory whose records the new one shares, the live one first. */
  readonly known: readonly KnownList[];
  /** The list in memory with the same digest. Of such a list, only the changes are read. */
  readonly same: ListImage | undefined;
  /** The live list, if the new one descends from it and is large. */
  readonly predecessor: Predecessor | undefined;
  readonly range: Pick<HistoryImage, 'since' | 'until'>;
}

export interface LoadedCollection {
  readonly image: CollectionImage;
  readonly changed: InstantImage;
  /** Returns the records of a list in memory, where they are beside those of the image. */
  readonly continued: (records: RecordsImage) => RecordsImage;
}

/**
 * Loads the records of a collection, indexes their ids and columns, and reads their changes. Refuses a run that is not
 * valid. A list that is in memory is not made again.
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
  const same = list.same?.collections[list.layout.name];
  if (same !== undefined) runs().forEach(() => undefined);
  const loaded =
    same === undefined
      ? newCollection(list, runs(), form, onRun)
      : { image: same, continued: (records: RecordsImage) => records };
  return { ...loaded, changed: instantImage(BigInt64Array.from(changeInstants), changedRows) };
}

function newCollection(
  list: StoredList,
  stored: Iterable<Run>,
  form: RecordForm | undefined,
  onRun?: (run: Run) => void,
): Pick<LoadedCollection, 'image' | 'continued'> {
  const { layout, entries } = list;
  const count = rowCount(entries);
  const ids = newIdIndex(count, layout.resource.id);
  const known = knownRecords(list);
  const builder = recordsBuilder(list, known);
  const load = function* () {
    for (const run of stored) {
      loadRecords(run, builder, known, ids.hashes, form);
      const { firstRow, recordCount } = run.entry;
      const repeated = addIds(ids, builder, firstRow, firstRow + recordCount);
      if (repeated !== undefined)
        throw duplicateId(layout, String(JSON.parse(firstValueOf(recordAt(builder, repeated)).toString())));
      onRun?.(run);
      yield run;
    }
  };
  const indexes = buildIndexes(layout, count, load());
  return {
    image: { count, recordsSum: recordsSum(entries), records: builder.finish(), ids, ...indexes },
    continued: (records) => builder.continued(records),
  };
}

/** A small list has a buffer of its own, so that it keeps no other one in memory. */
function knownRecords({ known, layout, entries }: StoredList): KnownRecords {
  return new KnownRecords(isPacked(entries) ? [] : known, layout.name);
}

/** Computes the bytes of records that `loadCollection` copies of a list, unless that is small. Takes all of its runs. */
export function bytesToLoad(list: StoredList): number {
  if (list.same !== undefined || isPacked(list.entries)) {
    Array.from(list.runs);
    return 0;
  }
  const known = knownRecords(list);
  const builder = recordsBuilder(list, known, true);
  const hashes = new Uint32Array(rowCount(list.entries));
  for (const run of list.runs) loadRecords(run, builder, known, hashes);
  builder.finish();
  return builder.copiedBytes;
}

export function recordsBuilder({ entries }: StoredList, { records: earlier }: KnownRecords, isDry = false) {
  return new RecordsBuilder({
    count: rowCount(entries),
    // Each record has a comma after it, also the last one of a run.
    bytes: recordBytes(entries) + entries.length,
    isShared: !isPacked(entries),
    earlier,
    isDry,
  });
}

const BRACE = 0x7d;

/** Divides the records of a run, and adds them and the hashes of their ids. Those that are in memory are not copied. */
function loadRecords(
  run: Run,
  builder: RecordsBuilder,
  known: KnownRecords,
  hashes: Uint32s,
  form?: RecordForm,
): void {
  const { layout, records } = run;
  const { firstRow, recordCount, recordBytes } = run.entry;
  if (records.length !== recordBytes) {
    const found = `have ${records.length} bytes at row ${firstRow}, "runs" declares ${recordBytes}`;
    throw inconsistent(`the records of ${layout.table} ${found}`);
  }
  const { offsets, ids } = divideRecords(run);
  /** The first record that is not added yet. */
  let next = 0;
  const copyUntil = (end: number) => {
    checkUtf8(run, offsets[next], offsets[end]);
    builder.copy(firstRow + next, records, offsets, next, end);
  };
  for (let i = 0; i < recordCount; i++) {
    const end = offsets[i + 1] - 1;
    const isKnown = known.find(records, offsets[i], end, ids, i);
    hashes[firstRow + i] = known.hash;
    if (isKnown && known.image !== undefined) {
      if (next < i) copyUntil(i);
      builder.refer(firstRow + i, known.image.records, known.row);
      next = i + 1;
    } else if (form !== undefined) checkForm(form, run, i, offsets[i], end);
  }
  if (next < recordCount) copyUntil(recordCount);
}

/** @throws RefusedSnapshot when the records of a run at `start … end` are not UTF-8 */
export function checkUtf8({ layout, entry, records }: Run, start: number, end: number): void {
  if (!isUtf8(records.subarray(start, end)))
    throw inconsistent(`the records of ${layout.table} at row ${entry.firstRow} are not UTF-8`);
}

/** @throws RefusedSnapshot when record `i` of a run, at its bytes `start … end`, does not have a form */
export function checkForm(
  form: RecordForm,
  { layout, entry, records }: Run,
  i: number,
  start: number,
  end: number,
): void {
  if (form.read(records.toString('latin1', start, end)) === undefined)
    throw refused(layout, entry.firstRow + i, `is not ${form.name}`);
}

/**
 * Divides the records of a run by their declared lengths, and reads their ids.
 * @returns the ids, and the offset of each record, and of the end, as if a comma followed the last record
 * @throws RefusedSnapshot when a record differs from its declared length, is too large, or does not begin with its id
 */
export function divideRecords(run: Run) {
  const { layout, records: bytes } = run;
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

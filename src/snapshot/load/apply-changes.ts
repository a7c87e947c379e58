import type { Instant } from '../../contract/timestamp.ts';
import { addIds, findRow, newIdIndex } from '../../store/index/id-index.ts';
import { type InstantImage, instantImage } from '../../store/index/instant-index.ts';
import { lowerInstantBound } from '../../store/index/row-sets.ts';
import { hashText } from '../../store/index/texts.ts';
import type { Row } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import type { RecordsBuilder } from '../../store/records-builder.ts';
import { recordAt } from '../../store/records.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { recordDigest, sumText } from '../format/schema.ts';
import {
  bytesToLoad,
  loadCollection,
  type LoadedCollection,
  type Predecessor,
  recordsBuilder,
  type StoredList,
} from './collection-loader.ts';
import { KnownRecords } from './known-records.ts';
import { type ChangedRecord, continueIndexes, EarlierColumns, type Origins } from './list-indexes.ts';
import type { RecordForm } from './record-form.ts';

/** The history of a list in memory does not lead to the new list, which has to be loaded as a whole. */
export class OtherHistory extends RefusedSnapshot {
  constructor({ name }: CollectionLayout) {
    super('inconsistent', `the changes of ${name} do not lead from the live snapshot to this one`);
  }
}

/** Loads a collection: from its predecessor, if it has one. */
export function loadOrContinue(list: StoredList, form?: RecordForm): LoadedCollection {
  const { same, layout, range, predecessor } = list;
  if (predecessor === undefined) return loadCollection(list, form);
  if (same === undefined) return applyChanges(list, predecessor, form);
  list.blocks.forEach(() => undefined);
  const { [layout.name]: image } = same.collections;
  return { image, changed: changesSince(predecessor.changed, range.since), continued: (records) => records };
}

/** Computes the bytes of records that a load copies of a list, unless that is small. Takes all of its blocks. */
export function bytesToCopy(list: StoredList): number {
  const { same, predecessor } = list;
  if (predecessor === undefined || same !== undefined) return bytesToLoad(list);
  const columns = new EarlierColumns(list.layout, predecessor.image);
  const builder = buildRecords(list, predecessor.image, mergeRows(list, predecessor, columns), true);
  builder.finish();
  return builder.copiedBytes;
}

/**
 * Makes a list of its predecessor and of the records that changed since: records that stay are neither read nor indexed
 * again. The sum of the digests of all records shows that they are the declared ones.
 * @param list its blocks have the records that changed since the predecessor, and may have others
 * @throws OtherHistory
 */
export function applyChanges(
  list: StoredList,
  predecessor: Predecessor,
  form?: RecordForm,
): LoadedCollection {
  const { layout, declared, range } = list;
  const { recordCount: count, recordsSum } = declared;
  const { image: earlier } = predecessor;
  const columns = new EarlierColumns(layout, earlier);
  const merged = mergeRows(list, predecessor, columns, form);
  const { origins, changed } = merged;
  const ids = newIdIndex(count, layout.resource.id);
  for (const [row, origin] of origins.entries())
    ids.hashes[row] = origin < 0 ? changed[-1 - origin].hash : earlier.ids.hashes[origin];
  const builder = buildRecords(list, earlier, merged);
  if (addIds(ids, builder, 0, count) !== undefined) throw new OtherHistory(layout);
  const indexes = continueIndexes(columns, merged);
  return {
    image: { count, recordsSum, records: builder.finish(), ids, ...indexes },
    changed: continueChanges(predecessor, merged, range.since),
    continued: (records) => builder.continued(records),
  };
}

/** Returns the changes of a list that equals its predecessor, since a time. */
function changesSince({ sorted, rows }: InstantImage, since: Instant): InstantImage {
  const first = lowerInstantBound(sorted, since + 1n);
  return instantImage(sorted.slice(first), rows.subarray(first));
}

/** Finds the records that changed since the predecessor, and where the others come from. */
function mergeRows(
  list: StoredList,
  { image: earlier, until, deleted }: Predecessor,
  columns: EarlierColumns,
  form?: RecordForm,
): Origins {
  const { layout, declared, blocks, range } = list;
  const changed: ChangedRecord[] = [];
  const origins = new Int32Array(declared.recordCount);
  const isLeft = new Uint8Array(earlier.count);
  let sum = BigInt(`0x${earlier.recordsSum}`);
  let staying = earlier.count;
  const leave = (id: string) => {
    const row = findRow(earlier.ids, earlier.records, id);
    if (row < 0 || isLeft[row] === 1) return;
    isLeft[row] = 1;
    staying--;
    const values = `${JSON.stringify(id)},${columns.valuesAt(row)}`;
    sum -= recordDigest(layout.name, values, recordAt(earlier.records, row).toString());
  };
  for (const block of blocks) {
    block.checkUtf8(0, block.count);
    for (const [i, row] of block.rows.entries()) {
      if (block.changedAt[i] <= until) continue;
      if (!block.isChange(i, range)) throw new OtherHistory(layout);
      if (form !== undefined) block.checkForm(form, i);
      leave(block.idAt(i));
      sum += block.digestAt(i);
      const [record, changedAt] = [Buffer.from(block.recordAt(i)), block.changedAt[i]];
      changed.push({ row, record, hash: hashText(block.ids, i), values: block.valuesAt(i), changedAt });
      origins[row] = -changed.length;
    }
  }
  for (const id of deleted) leave(id);
  if (staying + changed.length !== origins.length || sumText(sum) !== declared.recordsSum)
    throw new OtherHistory(layout);
  let next = 0;
  for (let row = 0; row < origins.length; row++) {
    if (origins[row] < 0) continue;
    while (isLeft[next] === 1) next++;
    origins[row] = next++;
  }
  return { origins, changed };
}

/** Makes the records: refers to those that stay, and copies the changed ones. */
function buildRecords(
  list: StoredList,
  earlier: CollectionImage,
  { origins, changed }: Origins,
  isDry = false,
): RecordsBuilder {
  const builder = recordsBuilder(list, new KnownRecords(list.known, list.layout.name), isDry);
  for (const [row, origin] of origins.entries()) {
    if (origin >= 0) builder.refer(row, earlier.records, origin);
    else {
      const { record } = changed[-1 - origin];
      // With the comma after it, which it lacks.
      builder.copy(row, record, Uint32Array.of(0, record.length + 1));
    }
  }
  return builder;
}

/** Returns the changes since a time: the earlier ones of records that stay, and the new ones. */
function continueChanges(
  { image, changed: earlier }: Predecessor,
  { origins, changed }: Origins,
  since: Instant,
): InstantImage {
  const rowOf = new Int32Array(image.count).fill(-1);
  for (const [row, origin] of origins.entries()) if (origin >= 0) rowOf[origin] = row;
  const instants: Instant[] = [];
  const rows: Row[] = [];
  for (const [i, instant] of earlier.sorted.entries()) {
    const row = rowOf[earlier.rows[i]];
    if (row < 0 || instant <= since) continue;
    instants.push(instant);
    rows.push(row);
  }
  for (const { row, changedAt } of changed) {
    instants.push(changedAt);
    rows.push(row);
  }
  return instantImage(BigInt64Array.from(instants), rows);
}

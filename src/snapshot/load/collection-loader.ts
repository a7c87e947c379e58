import type { Instant } from '../../contract/timestamp.ts';
import { addIds, newIdIndex } from '../../store/index/id-index.ts';
import { type InstantImage, instantImage } from '../../store/index/instant-index.ts';
import type { Uint32s } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage, HistoryImage, ListImage } from '../../store/organization-image.ts';
import type { KnownList } from '../../store/registry/store-view.ts';
import { RecordsBuilder } from '../../store/records-builder.ts';
import { firstValueOf, recordAt, type RecordsImage } from '../../store/records.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { type DeclaredList, isPacked } from '../format/manifest.ts';
import { type Block, duplicateId } from './block.ts';
import { KnownRecords } from './known-records.ts';
import { buildIndexes } from './list-indexes.ts';
import type { RecordForm } from './record-form.ts';

/** What the histories of the organizations of a file have in common. */
export interface FileHistory extends Pick<HistoryImage, 'digest' | 'lineage' | 'since' | 'until'> {
  /** Time up to which changes are missing in the file of changes, if there is one. */
  readonly changesSince: Instant | undefined;
  /** Production times of the snapshot and its ancestors. */
  readonly times: ReadonlySet<bigint>;
}

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
  readonly declared: DeclaredList;
  /** Its records, or the changes alone if it has a predecessor. Each block is taken when the one before it is loaded. */
  readonly blocks: Generator<Block>;
  /** Lists in memory whose records the new one shares, the live one first. */
  readonly known: readonly KnownList[];
  /** The list in memory with the same digest. Of such a list, only the rows in the file of changes are read. */
  readonly same: ListImage | undefined;
  /** The live list, if the new one descends from it and is large. */
  readonly predecessor: Predecessor | undefined;
  readonly range: Pick<FileHistory, 'since' | 'times'>;
}

export interface LoadedCollection {
  readonly image: CollectionImage;
  readonly changed: InstantImage;
  /** Returns the records of a list in memory, where they are beside those of the image. */
  readonly continued: (records: RecordsImage) => RecordsImage;
}

/**
 * Loads the records of a collection, indexes their ids and columns, and reads their changes. Refuses a record that is not
 * valid. A list that is in memory is not made again.
 * @param form the form to check the records for; undefined when they are not parsed
 * @param onBlock called with each block when its records are in place
 */
export function loadCollection(
  list: StoredList,
  form?: RecordForm,
  onBlock?: (block: Block) => void,
): LoadedCollection {
  const changedRows: number[] = [];
  const changeInstants: Instant[] = [];
  const blocks = function* () {
    for (const block of list.blocks) {
      yield block;
      for (const [i, row] of block.rows.entries()) {
        if (!block.isChange(i, list.range)) continue;
        changedRows.push(row);
        changeInstants.push(block.changedAt[i]);
      }
    }
  };
  const same = list.same?.collections[list.layout.name];
  if (same !== undefined) blocks().forEach(() => undefined);
  const loaded =
    same === undefined
      ? newCollection(list, blocks(), form, onBlock)
      : { image: same, continued: (records: RecordsImage) => records };
  return { ...loaded, changed: instantImage(BigInt64Array.from(changeInstants), changedRows) };
}

function newCollection(
  list: StoredList,
  stored: Iterable<Block>,
  form: RecordForm | undefined,
  onBlock?: (block: Block) => void,
): Pick<LoadedCollection, 'image' | 'continued'> {
  const { layout, declared } = list;
  const { recordCount: count, recordsSum } = declared;
  const ids = newIdIndex(count, layout.resource.id);
  const known = knownRecords(list);
  const builder = recordsBuilder(list, known);
  const load = function* () {
    for (const block of stored) {
      loadRecords(block, builder, known, ids.hashes, form);
      const [firstRow] = block.rows;
      const repeated = addIds(ids, builder, firstRow, firstRow + block.count);
      if (repeated !== undefined)
        throw duplicateId(layout, String(JSON.parse(firstValueOf(recordAt(builder, repeated)).toString())));
      onBlock?.(block);
      yield block;
    }
  };
  const indexes = buildIndexes(layout, count, load());
  return {
    image: { count, recordsSum, records: builder.finish(), ids, ...indexes },
    continued: (records) => builder.continued(records),
  };
}

/** A small list has a buffer of its own, so that it keeps no other one in memory. */
function knownRecords({ known, layout, declared }: StoredList): KnownRecords {
  return new KnownRecords(isPacked(declared) ? [] : known, layout.name);
}

/** Computes the bytes of records that `loadCollection` copies of a list, unless that is small. Takes all of its blocks. */
export function bytesToLoad(list: StoredList): number {
  if (list.same !== undefined || isPacked(list.declared)) {
    Array.from(list.blocks);
    return 0;
  }
  const known = knownRecords(list);
  const builder = recordsBuilder(list, known, true);
  const hashes = new Uint32Array(list.declared.recordCount);
  for (const block of list.blocks) loadRecords(block, builder, known, hashes);
  builder.finish();
  return builder.copiedBytes;
}

export function recordsBuilder({ declared }: StoredList, { records: earlier }: KnownRecords, isDry = false) {
  const { recordCount: count, recordBytes } = declared;
  // Each record has a comma after it.
  return new RecordsBuilder({
    count,
    bytes: recordBytes + count,
    isShared: !isPacked(declared),
    earlier,
    isDry,
  });
}

/** Adds the records of a block, and the hashes of their ids. Those that are in memory are not copied. */
function loadRecords(
  block: Block,
  builder: RecordsBuilder,
  known: KnownRecords,
  hashes: Uint32s,
  form?: RecordForm,
): void {
  const { records, offsets, ids, count } = block;
  const [firstRow] = block.rows;
  /** The first record that is not added yet. */
  let next = 0;
  const copyUntil = (end: number) => {
    block.checkUtf8(next, end);
    builder.copy(firstRow + next, records, offsets, next, end);
  };
  for (let i = 0; i < count; i++) {
    const isKnown = known.find(records, offsets[i], offsets[i + 1] - 1, ids, i);
    hashes[firstRow + i] = known.hash;
    if (isKnown && known.image !== undefined) {
      if (next < i) copyUntil(i);
      builder.refer(firstRow + i, known.image.records, known.row);
      next = i + 1;
    } else if (form !== undefined) block.checkForm(form, i);
  }
  if (next < count) copyUntil(count);
}

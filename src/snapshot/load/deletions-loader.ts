import { isUtf8 } from 'node:buffer';
import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTION_NAMES } from '../../contract/resources.ts';
import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { findRow } from '../../store/index/id-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import { sharedBytes, sharedFloats, sharedInt64s } from '../../store/memory/shared-arrays.ts';
import type { ChangesImage, CollectionImage } from '../../store/organization-image.ts';
import { parseObject, textIn } from '../format/json-values.ts';
import { byCollection, DELETIONS } from '../format/layout.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { HistoryRange } from './changes-builder.ts';
import { divideRecords } from './records-loader.ts';
import type { Run } from './run-reader.ts';

const [COLLECTION_COLUMN, INSTANT_COLUMN] = DELETIONS.columns;

type Deletion = NonNullable<ReturnType<typeof deletionIn>>;

/**
 * Loads the deletions of an organization, which are parsed and checked in full.
 * They are in order, distinct, and not of records of the content.
 */
export function loadDeletions(
  runs: Iterable<Run>,
  content: Readonly<Record<CollectionName, CollectionImage>>,
  { after, until }: HistoryRange,
): Record<CollectionName, ChangesImage['deleted']> {
  const deletedIds = byCollection(() => new Map<string, Instant>());
  let last: Deletion | undefined;
  for (const run of runs) {
    run.checkDigest();
    const { offsets } = divideRecords(DELETIONS, COLLECTION_COLUMN.index, run);
    if (!isUtf8(run.records)) throw inconsistent(`the records of ${DELETIONS.table} are not UTF-8`);
    const instants = run.instants(INSTANT_COLUMN.column);
    const { texts, textOf } = run.texts(COLLECTION_COLUMN.column);
    for (const [i, text] of textOf.entries()) {
      const row = run.entry.firstRow + i;
      const refused = (problem: string) => inconsistent(`record ${row} of ${DELETIONS.table} ${problem}`);
      const deletion = deletionIn(run.records.toString('utf8', offsets[i], offsets[i + 1] - 1));
      if (deletion === undefined) throw refused('is not a deletion in its stored form');
      const { collection, id, instant } = deletion;
      if (collection !== decodeText(texts, text) || instant !== instants[i])
        throw refused('differs from its columns');
      if (last !== undefined && !isBefore(last, deletion)) throw refused('is out of order');
      if (instant > until) throw refused('is later than the snapshot');
      const { ids, records } = content[collection];
      if (findRow(ids, records, id) >= 0)
        throw refused(`deletes "${id}" of ${collection}, which the snapshot holds`);
      if (deletedIds[collection].has(id)) {
        const deletionOf = `the deletion of "${id}" of ${collection}`;
        throw new RefusedSnapshot('duplicate-id', `${DELETIONS.table} holds ${deletionOf} twice`);
      }
      deletedIds[collection].set(id, instant);
      last = deletion;
    }
  }
  return byCollection(({ name }) =>
    imageOf(deletedIds[name].entries().filter(([, instant]) => instant > after)),
  );
}

/** @param deletions ids with their times, earliest first */
function imageOf(deletions: Iterable<[id: string, instant: Instant]>): ChangesImage['deleted'] {
  const entries = [...deletions];
  const texts = entries.map(([id]) => Buffer.from(`${JSON.stringify(id)},`));
  const bytes = sharedBytes(texts.reduce((sum, { length }) => sum + length, 0));
  const [offsets, sorted] = [sharedFloats(texts.length + 1), sharedInt64s(texts.length)];
  for (const [i, text] of texts.entries()) {
    bytes.set(text, offsets[i]);
    offsets[i + 1] = offsets[i] + text.length;
    sorted[i] = entries[i][1];
  }
  return { sorted, ids: { bytes, offsets } };
}

/** Parses a deletion. Returns undefined if the text is not that of JSON.stringify for a valid one. */
function deletionIn(text: string) {
  const record = parseObject(text);
  const [id, deletedAt] = [textIn(record?.['id']), textIn(record?.['deletedAt'])];
  const collection = COLLECTION_NAMES.find((name) => name === record?.['collection']);
  const instant = deletedAt.endsWith('Z') ? parseTimestamp(deletedAt) : undefined;
  const isId = id !== '' && id.isWellFormed();
  if (collection === undefined || instant === undefined || !isId) return undefined;
  return JSON.stringify({ collection, id, deletedAt }) === text ? { collection, id, instant } : undefined;
}

function isBefore(a: Deletion, b: Deletion): boolean {
  if (a.instant !== b.instant) return a.instant < b.instant;
  return a.id === b.id ? a.collection < b.collection : a.id < b.id;
}

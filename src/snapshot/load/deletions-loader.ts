import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTION_NAMES } from '../../contract/resources.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { findRow } from '../../store/index/id-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import type { CollectionImage, ListImage } from '../../store/organization-image.ts';
import { recordAt, type RecordsImage } from '../../store/records.ts';
import { parseObject, textIn } from '../format/json-values.ts';
import { byCollection, DELETIONS } from '../format/layout.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import { loadList, type StoredList } from './list-loader.ts';
import type { Run } from './run-reader.ts';

const [COLLECTION_COLUMN, INSTANT_COLUMN] = DELETIONS.columns;

type Deletion = NonNullable<ReturnType<typeof deletionIn>>;

/**
 * Loads the deletions of an organization, which are parsed and checked in full.
 * They are in order, distinct, and not of records of the content.
 */
export function loadDeletions(
  list: StoredList,
  content: Readonly<Record<CollectionName, CollectionImage>>,
): ListImage {
  const deletedIds = byCollection(() => new Set<string>());
  let last: Deletion | undefined;

  function checkRun(run: Run, image: RecordsImage): void {
    const instants = run.instants(INSTANT_COLUMN.column);
    const { texts, textOf } = run.texts(COLLECTION_COLUMN.column);
    for (const [i, text] of textOf.entries()) {
      const row = run.entry.firstRow + i;
      const refused = (problem: string) => inconsistent(`record ${row} of ${DELETIONS.table} ${problem}`);
      const deletion = deletionIn(recordAt(image, row).toString());
      if (deletion === undefined) throw refused('is not a deletion in its stored form');
      const { collection, id, instant } = deletion;
      if (collection !== decodeText(texts, text) || instant !== instants[i])
        throw refused('differs from its columns');
      if (last !== undefined && !isBefore(last, deletion)) throw refused('is out of order');
      const { ids, records } = content[collection];
      if (findRow(ids, records, id) >= 0)
        throw refused(`deletes "${id}" of ${collection}, which the snapshot holds`);
      if (deletedIds[collection].has(id)) {
        const deletionOf = `the deletion of "${id}" of ${collection}`;
        throw new RefusedSnapshot('duplicate-id', `${DELETIONS.table} holds ${deletionOf} twice`);
      }
      deletedIds[collection].add(id);
      last = deletion;
    }
  }

  return loadList(list, COLLECTION_COLUMN.index, undefined, checkRun);
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

import type { CollectionName } from '../contract/operations.ts';
import { findRow } from '../store/index/id-index.ts';
import { keyNumbers, postingList } from '../store/index/posting-index.ts';
import { intersection, lowerInstantBound, NO_ROWS, rowSet, rowSpan, union } from '../store/index/row-sets.ts';
import type { Int64s, Uint32s } from '../store/memory/shared-arrays.ts';
import { type ListImage, listOf, type OrganizationImage } from '../store/organization-image.ts';
import { firstValueOf, recordAt } from '../store/records.ts';
import { CHUNK_BYTES, chunkJoiner } from './read-lines.ts';
import { recordSegments } from './read-page.ts';
import { blocksOf, select, type Selection, totalOf } from './select.ts';

type SelectedChanges = ReturnType<typeof selectChanges>[number];

/**
 * Selects the changes after an instant, or all records.
 * @param after microseconds since the epoch; undefined for all records
 * @param eventIds the events of the copy, each once; undefined for all
 */
export function selectChanges(
  image: OrganizationImage,
  collections: readonly CollectionName[],
  after: bigint | undefined,
  eventIds?: readonly string[],
) {
  const firstAfter = (sorted: Int64s) =>
    after === undefined ? sorted.length : lowerInstantBound(sorted, after + 1n);
  return collections.map((collection) => {
    const list = image.lists[listOf(collection)];
    const { changed, deleted } = image.history.changes[collection];
    const all = selectAll(list, collection, eventIds);
    const rows = changed.rows.subarray(firstAfter(changed.sorted));
    const { kept, gone } =
      eventIds === undefined
        ? { kept: rows, gone: NO_ROWS }
        : divide(rows, rowsByEvent(list, collection, eventIds), list.collections[collection].count);
    const put: Selection = after === undefined ? all : { kind: 'list', rows: kept };
    const firstDeleted = firstAfter(deleted.sorted);
    const deletedCount = deleted.sorted.length - firstDeleted;
    const [total, lines] = [totalOf(all), totalOf(put) + gone.length + deletedCount];
    return { collection, list, total, lines, put, gone, deleted: deleted.ids, firstDeleted, deletedCount };
  });
}

/** Selects all records of a collection, or of events, as the filters of the lists do. */
function selectAll(list: ListImage, collection: CollectionName, eventIds?: readonly string[]): Selection {
  const image = list.collections[collection];
  if (eventIds === undefined) return select(image, []);
  if (list.name !== 'events') return select(image, [{ match: 'anyOf', index: 'eventId', keys: eventIds }]);
  return { kind: 'list', rows: union(rowsByEvent(list, collection, eventIds), image.count) };
}

/** Divides rows into those that are in a list, and the others. Both ascend. */
function divide(rows: Uint32s, lists: readonly Uint32s[], rowCount: number) {
  const sorted = rowSet(rows, rowCount);
  const common = lists.map((list) => intersection(sorted, list));
  const kept = union(common, rowCount);
  let next = 0;
  const gone = sorted.filter((row) => {
    if (row !== kept[next]) return true;
    next++;
    return false;
  });
  return { kept, gone };
}

/** Returns the rows of each event that exists, ascending. */
function rowsByEvent(
  { name, collections, schedule }: ListImage,
  collection: CollectionName,
  eventIds: readonly string[],
): Uint32s[] {
  if (name !== 'events') {
    const postings = collections[collection].postings['eventId'];
    return keyNumbers(postings, eventIds).map((key) => postingList(postings, key));
  }
  const { ids, records } = collections['events'];
  const events = eventIds.map((id) => findRow(ids, records, id)).filter((row) => row >= 0);
  const { firstOfEvent } = schedule;
  return events.map((row) =>
    collection === 'events' ? rowSpan(row, row + 1) : rowSpan(firstOfEvent[row], firstOfEvent[row + 1]),
  );
}

/**
 * Reads changes as lines: deletions, then records. A chunk consists of whole lines, and is read when it is taken.
 * @param now milliseconds since the epoch
 * @param isSent returns whether the previous chunk is sent, so that the next one may reuse its buffer
 */
export function* readChanges(
  selected: readonly SelectedChanges[],
  firstLine: string,
  lastLine: string,
  now: number,
  isSent: () => boolean,
): Generator<Buffer> {
  const join = chunkJoiner(isSent);
  let pieces: Buffer[] = [Buffer.from(firstLine)];
  let bytes = 0;
  for (const line of linesOf(selected, now)) {
    for (const piece of line) bytes += piece.length;
    pieces.push(...line);
    if (bytes < CHUNK_BYTES) continue;
    yield join(pieces);
    pieces = [];
    bytes = 0;
  }
  yield join([...pieces, Buffer.from(lastLine)]);
}

const RECORD = Buffer.from(',"record":');
const EVENT_ID = Buffer.from(',"eventId":');
const END = Buffer.from('}\n');

/** Returns a line up to the value of its id. */
function lineStart(change: 'delete' | 'put', collection: CollectionName): Buffer {
  return Buffer.from(`${JSON.stringify({ change, collection }).slice(0, -1)},"id":`);
}

/** Yields the pieces of each line. Of the deletions, those of the records that refer to others come first. */
function* linesOf(selected: readonly SelectedChanges[], now: number): Generator<readonly Buffer[]> {
  for (const { collection, list, deleted, firstDeleted, deletedCount, gone } of selected.toReversed()) {
    const start = lineStart('delete', collection);
    for (let i = 0; i < deletedCount; i++) yield [start, recordAt(deleted, firstDeleted + i), END];
    const { records } = list.collections[collection];
    for (const row of gone) yield [start, firstValueOf(recordAt(records, row)), END];
  }
  for (const { collection, list, put } of selected) {
    const start = lineStart('put', collection);
    for (const rows of blocksOf(put)) {
      for (const row of rows) {
        const segments = recordSegments(list, { collection }, row, now);
        const ids = [firstValueOf(segments[0])];
        if (collection === 'sessions') {
          const event = recordAt(list.collections['events'].records, list.schedule.eventOf[row]);
          ids.push(EVENT_ID, firstValueOf(event));
        }
        yield [start, ...ids, RECORD, ...segments, END];
      }
    }
  }
}

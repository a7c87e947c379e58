import type { CollectionName } from '../contract/operations.ts';
import { lowerInstantBound } from '../store/index/row-sets.ts';
import type { Int64s, Row } from '../store/memory/shared-arrays.ts';
import { listOf, type OrganizationImage } from '../store/organization-image.ts';
import { firstValueOf, recordAt } from '../store/records.ts';
import { CHUNK_BYTES, chunkJoiner } from './read-lines.ts';
import { recordSegments } from './read-page.ts';

type SelectedChanges = ReturnType<typeof selectChanges>[number];

/**
 * Selects the changes after an instant, or all records.
 * @param after microseconds since the epoch; undefined for all records
 */
export function selectChanges(
  image: OrganizationImage,
  collections: readonly CollectionName[],
  after: bigint | undefined,
) {
  const firstAfter = (sorted: Int64s) =>
    after === undefined ? sorted.length : lowerInstantBound(sorted, after + 1n);
  return collections.map((collection) => {
    const list = image.lists[listOf(collection)];
    const { changed, deleted } = image.history.changes[collection];
    const rows = after === undefined ? undefined : changed.rows.subarray(firstAfter(changed.sorted));
    const count = rows?.length ?? list.collections[collection].count;
    const firstDeleted = firstAfter(deleted.sorted);
    const deletedCount = deleted.sorted.length - firstDeleted;
    return { collection, list, rows, count, deleted: deleted.ids, firstDeleted, deletedCount };
  });
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
  for (const { collection, deleted, firstDeleted, deletedCount } of selected.toReversed()) {
    const start = lineStart('delete', collection);
    for (let i = 0; i < deletedCount; i++) yield [start, recordAt(deleted, firstDeleted + i), END];
  }
  for (const { collection, list, rows, count } of selected) {
    const start = lineStart('put', collection);
    for (let i = 0; i < count; i++) {
      const row: Row = rows === undefined ? i : rows[i];
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

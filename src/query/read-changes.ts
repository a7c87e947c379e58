import type { CollectionName } from '../contract/operations.ts';
import { changesAfter } from '../store/history.ts';
import type { Row, Uint32s } from '../store/memory/shared-arrays.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import { firstValueOf } from '../store/record-bytes.ts';
import { recordAt, type RecordsImage } from '../store/records.ts';
import { Chunk, CHUNK_BYTES } from './read-lines.ts';
import { eventSegments } from './read-page.ts';

/** The changes of a collection that a stream has. */
export interface SelectedChanges {
  readonly collection: CollectionName;
  /** Rows of the records; undefined for all of them. */
  readonly rows: Uint32s | undefined;
  readonly count: number;
  /** JSON ids of the deleted records, of which those from a position on are selected. */
  readonly deleted: { readonly ids: RecordsImage; readonly from: number; readonly until: number };
}

/**
 * Selects the changes after an instant, or all records.
 * @param after microseconds since the epoch; undefined for all records
 */
export function selectChanges(
  { image, history }: OrganizationStore,
  collections: readonly CollectionName[],
  after: bigint | undefined,
): SelectedChanges[] {
  return collections.map((collection) => {
    const { ids } = history.changes[collection].deleted;
    if (after === undefined)
      return {
        collection,
        rows: undefined,
        count: image[collection].count,
        deleted: { ids, from: 0, until: 0 },
      };
    const { rows, deletedFrom: from, deletedUntil: until } = changesAfter(history.changes[collection], after);
    return { collection, rows, count: rows.length, deleted: { ids, from, until } };
  });
}

/**
 * Reads changes as lines: deletions, then records. A chunk consists of whole lines, and is read when it is taken.
 * @param now milliseconds since the epoch
 * @param isSent returns whether the previous chunk is sent, so that the next one may reuse its buffer
 */
export function* readChanges(
  store: OrganizationStore,
  selected: readonly SelectedChanges[],
  firstLine: string,
  lastLine: string,
  now: number,
  isSent: () => boolean,
): Generator<Buffer> {
  const chunk = new Chunk(isSent);
  let pieces: Buffer[] = [Buffer.from(firstLine)];
  let bytes = 0;
  for (const line of linesOf(store, selected, now)) {
    for (const piece of line) bytes += piece.length;
    pieces.push(...line);
    if (bytes < CHUNK_BYTES) continue;
    yield chunk.join(pieces);
    pieces = [];
    bytes = 0;
  }
  yield chunk.join([...pieces, Buffer.from(lastLine)]);
}

const RECORD = Buffer.from(',"record":');
const EVENT_ID = Buffer.from(',"eventId":');
const END = Buffer.from('}\n');

/** Returns a line up to the value of its id. */
function lineStart(change: 'delete' | 'put', collection: CollectionName): Buffer {
  return Buffer.from(`${JSON.stringify({ change, collection }).slice(0, -1)},"id":`);
}

/** Yields the pieces of each line. Of the deletions, those of the records that refer to others come first. */
function* linesOf(
  store: OrganizationStore,
  selected: readonly SelectedChanges[],
  now: number,
): Generator<readonly Buffer[]> {
  for (const { collection, deleted } of selected.toReversed()) {
    const start = lineStart('delete', collection);
    for (let i = deleted.from; i < deleted.until; i++) yield [start, recordAt(deleted.ids, i), END];
  }
  const { image } = store;
  for (const { collection, rows, count } of selected) {
    const start = lineStart('put', collection);
    const { records } = image[collection];
    for (let i = 0; i < count; i++) {
      const row: Row = rows === undefined ? i : rows[i];
      const record = recordAt(records, row);
      const segments = collection === 'events' ? eventSegments(store, row, now) : [record];
      const ids = [firstValueOf(record)];
      if (collection === 'sessions')
        ids.push(EVENT_ID, firstValueOf(recordAt(image.events.records, image.sessions.eventOf[row])));
      yield [start, ...ids, RECORD, ...segments, END];
    }
  }
}

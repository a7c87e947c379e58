import { instantOrder } from '../store/instant-order.ts';
import { nextSessionFields } from '../store/next-sessions.ts';
import type { CollectionImage, SessionsImage } from '../store/organization-image.ts';
import { recordsBytes } from '../store/records.ts';
import {
  INT64_BYTES,
  sharedBytes,
  sharedFloats,
  sharedInt64s,
  sharedUint32s,
  UINT32_BYTES,
} from '../store/shared.ts';
import type { Floats, Int64s, Uint32s } from '../store/shared.ts';
import { CollectionLoader } from './collection-loader.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { SESSIONS } from './layout.ts';
import type { ManifestOrganization } from './manifest.ts';
import type { TableTaker } from './read-content.ts';
import { eachValue, readText } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import type { RecordsBuilder } from './records-builder.ts';
import { takeInstants, takeRows } from './take-column.ts';

/** An id and a start stand in a session's record and in what ends its event's, which is this much longer at most. */
const NEXT_FIELDS_EXTRA =
  nextSessionFields('', '').length - JSON.stringify({ id: '', startAt: '', durationMinutes: 0 }).length;

/** Bytes of JSON text in the `nextFields` of `count` sessions whose records have `recordBytes`, at most. */
export function nextFieldsBytes(count: number, recordBytes: number): number {
  return recordBytes + count * NEXT_FIELDS_EXTRA;
}

/** Bytes that the image of `count` sessions holds beyond that of any collection, and the events' order by them. */
export function scheduleBytes(eventCount: number, count: number, recordBytes: number): number {
  const sessions = count * (INT64_BYTES + 2 * UINT32_BYTES);
  const eventsByStart = count * (INT64_BYTES + UINT32_BYTES);
  const nextFields = recordsBytes(count, nextFieldsBytes(count, recordBytes));
  return (eventCount + 1) * UINT32_BYTES + sessions + eventsByStart + nextFields;
}

/** Fills the image of the sessions, and what the events draw from them. */
export class SessionsLoader implements TableTaker {
  readonly #collection: CollectionLoader;
  readonly #eventCount: number;
  readonly #eventOf: Uint32s;
  readonly #starts: Int64s;
  /** What ends an event's record while the session is its next: the texts of each chunk, and where they begin and end. */
  readonly #nextFields: Buffer[] = [];
  readonly #nextOffsets: Floats;

  constructor(organization: ManifestOrganization, eventCount: number) {
    this.#collection = new CollectionLoader(SESSIONS, organization);
    this.#eventCount = eventCount;
    this.#eventOf = sharedUint32s(this.#collection.count);
    this.#starts = sharedInt64s(this.#collection.count);
    this.#nextOffsets = sharedFloats(this.#collection.count + 1);
  }

  get records(): RecordsBuilder {
    return this.#collection.records;
  }

  take(chunk: Chunk): void {
    this.#collection.take(chunk);
    takeRows(chunk, 'event_row', this.#eventCount, this.#eventOf, 0, 'event-without-session');
    takeInstants(chunk, 'starts', this.#starts);
    const startAt: string[] = [];
    eachValue(chunk, 'start_at', (bytes, start, end) => {
      startAt.push(readText(bytes, start, end));
    });
    let texts = '';
    eachValue(chunk, 'session_id', (bytes, start, end, row) => {
      const id = readText(bytes, start, end);
      const text = `${nextSessionFields(startAt[row - chunk.firstRow], id)},`;
      this.#nextOffsets[row + 1] = this.#nextOffsets[row] + Buffer.byteLength(text);
      texts += text;
    });
    this.#nextFields.push(Buffer.from(texts));
  }

  finish(): SessionsImage {
    const startOrder = sharedUint32s(this.#starts.length);
    startOrder.set(instantOrder(this.#starts));
    return {
      ...this.#collection.finish(),
      firstOfEvent: this.#firstOfEvent(),
      eventOf: this.#eventOf,
      starts: this.#starts,
      startOrder,
      nextFields: this.#packedNextFields(),
    };
  }

  #packedNextFields(): SessionsImage['nextFields'] {
    const bytes = sharedBytes(this.#nextOffsets[this.#collection.count]);
    let at = 0;
    for (const texts of this.#nextFields) {
      bytes.set(texts, at);
      at += texts.length;
    }
    return { bytes, offsets: this.#nextOffsets };
  }

  #firstOfEvent(): Uint32s {
    const first = sharedUint32s(this.#eventCount + 1);
    for (let session = 0; session < this.#eventOf.length; session++) {
      const event = this.#eventOf[session];
      const isLaterEvent = session === 0 || event > this.#eventOf[session - 1];
      const isLaterStart =
        event === this.#eventOf[session - 1] && this.#starts[session] >= this.#starts[session - 1];
      if (!isLaterEvent && !isLaterStart)
        throw new RefusedSnapshot('inconsistent', `sessions is out of order at row ${session}`);
      first[event + 1]++;
    }
    for (let event = 0; event < this.#eventCount; event++) {
      if (first[event + 1] === 0)
        throw new RefusedSnapshot('event-without-session', `row ${event} of events has no session`);
      first[event + 1] += first[event];
    }
    return first;
  }
}

/** Sessions are the start instants of their events: `startAt` as an index of the events. */
export function eventsByStart({ starts, startOrder, eventOf }: SessionsImage): CollectionImage['instants'] {
  const sorted = sharedInt64s(starts.length);
  const rows = sharedUint32s(starts.length);
  startOrder.forEach((session, i) => {
    sorted[i] = starts[session];
    rows[i] = eventOf[session];
  });
  return { startAt: { sorted, rows } };
}

import { instantOrder } from '../store/instant-order.ts';
import { nextSessionFields } from '../store/next-sessions.ts';
import type { CollectionImage, SessionsImage } from '../store/organization-image.ts';
import { COMMA } from '../store/records.ts';
import { sharedBytes, sharedFloats, sharedInt64s, sharedUint32s } from '../store/shared.ts';
import type { Int64s, Uint32s } from '../store/shared.ts';
import { CollectionLoader, takeInstants, takeRows } from './collection-loader.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { SESSIONS } from './layout.ts';
import type { ManifestOrganization } from './manifest.ts';
import { eachValue, readText } from './read-table.ts';
import type { Chunk } from './read-table.ts';

/** Fills the image of the sessions, and what the events draw from them. */
export class SessionsLoader {
  readonly #collection: CollectionLoader;
  readonly #eventCount: number;
  readonly #eventOf: Uint32s;
  readonly #starts: Int64s;
  /** What ends an event's record while the session is its next. */
  readonly #nextFields: string[] = [];

  constructor(organization: ManifestOrganization, eventCount: number) {
    this.#collection = new CollectionLoader(SESSIONS, organization);
    this.#eventCount = eventCount;
    this.#eventOf = sharedUint32s(this.#collection.count);
    this.#starts = sharedInt64s(this.#collection.count);
  }

  take(chunk: Chunk): void {
    this.#collection.takeRecords(chunk);
    takeRows(chunk, 'event_row', this.#eventCount, this.#eventOf, 0);
    takeInstants(chunk, 'starts', this.#starts);
    const startAt: string[] = [];
    eachValue(chunk, 'start_at', (bytes, start, end) => {
      startAt.push(readText(bytes, start, end));
    });
    eachValue(chunk, 'session_id', (bytes, start, end, row) => {
      this.#nextFields[row] = nextSessionFields(startAt[row - chunk.firstRow], readText(bytes, start, end));
    });
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
      nextFields: packed(this.#nextFields),
    };
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

function packed(texts: readonly string[]): SessionsImage['nextFields'] {
  const offsets = sharedFloats(texts.length + 1);
  texts.forEach((text, i) => {
    offsets[i + 1] = offsets[i] + Buffer.byteLength(text) + 1;
  });
  const bytes = sharedBytes(offsets[texts.length]);
  texts.forEach((text, i) => {
    bytes.set(Buffer.from(text), offsets[i]);
    bytes[offsets[i + 1] - 1] = COMMA;
  });
  return { bytes, offsets };
}

import { findRow } from '../../store/index/id-index.ts';
import { instantOrder } from '../../store/index/instant-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import {
  type Int64s,
  sharedBytes,
  sharedFloats,
  sharedInt64s,
  sharedUint32s,
  type Uint32s,
} from '../../store/memory/shared-arrays.ts';
import { nextSessionFields } from '../../store/next-sessions.ts';
import type { CollectionImage, SessionsImage } from '../../store/organization-image.ts';
import { SESSIONS } from '../format/layout.ts';
import { rowCount, type RunEntry } from '../format/manifest.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import { CollectionLoader } from './collection-loader.ts';
import { STORED_SESSION } from './record-form.ts';
import type { Run } from './run-reader.ts';

const [EVENT_COLUMN, STARTS_COLUMN] = SESSIONS.columns;

/** Builds the session image of an organization, with the schedules of its events. */
export class SessionsLoader {
  readonly #collection: CollectionLoader;
  readonly #events: CollectionImage;
  readonly #eventOf: Uint32s;
  readonly #starts: Int64s;

  /** @param events of the same organization, which the sessions refer to by id */
  constructor(runs: readonly RunEntry[], events: CollectionImage) {
    // The columns become the schedules, and no index.
    this.#collection = new CollectionLoader({ ...SESSIONS, columns: [] }, runs, undefined);
    this.#events = events;
    this.#eventOf = sharedUint32s(rowCount(runs));
    this.#starts = sharedInt64s(rowCount(runs));
  }

  /** Adds the sessions of the next run. Refuses sessions without an event. */
  add(run: Run): void {
    this.#collection.add(run);
    const { firstRow } = run.entry;
    run.readInstants(STARTS_COLUMN.column, this.#starts);
    const { texts, textOf } = run.texts(EVENT_COLUMN.column);
    const { ids, records } = this.#events;
    const events = Array.from(texts.ends, (_, i) => findRow(ids, records, decodeText(texts, i)));
    for (const [i, text] of textOf.entries()) {
      if (events[text] < 0) {
        throw new RefusedSnapshot(
          'event-without-session',
          `record ${firstRow + i} of ${SESSIONS.table} is a session of "${decodeText(texts, text)}", ` +
            'which is not an event of the organization',
        );
      }
      this.#eventOf[firstRow + i] = events[text];
    }
  }

  /** Finishes the image. Refuses sessions out of order, and events without a session. */
  finish(): SessionsImage {
    const startOrder = sharedUint32s(this.#starts.length);
    startOrder.set(instantOrder(this.#starts));
    const sessions = this.#collection.finish();
    return {
      ...sessions,
      firstOfEvent: this.#firstOfEvent(),
      eventOf: this.#eventOf,
      starts: this.#starts,
      startOrder,
      nextFields: nextFieldsOf(sessions),
    };
  }

  #firstOfEvent(): Uint32s {
    const { count } = this.#events;
    const first = sharedUint32s(count + 1);
    for (let session = 0; session < this.#eventOf.length; session++) {
      const event = this.#eventOf[session];
      const last = session === 0 ? -1 : this.#eventOf[session - 1];
      const isInOrder = event === last ? this.#starts[session] >= this.#starts[session - 1] : event > last;
      if (!isInOrder) throw inconsistent(`record ${session} of ${SESSIONS.table} is out of order`);
      first[event + 1]++;
    }
    for (let event = 0; event < count; event++) {
      if (first[event + 1] === 0)
        throw new RefusedSnapshot('event-without-session', `record ${event} of event_runs has no session`);
      first[event + 1] += first[event];
    }
    return first;
  }
}

/** Builds the fields that each session adds to its event's record while it is the next. */
function nextFieldsOf({ count, records }: CollectionImage): SessionsImage['nextFields'] {
  const bytes = Buffer.from(records.bytes.buffer);
  const offsets = sharedFloats(count + 1);
  const texts: string[] = [];
  for (let session = 0; session < count; session++) {
    const record = bytes.toString('utf8', records.offsets[session], records.offsets[session + 1] - 1);
    const { id, startAt } = STORED_SESSION.read(record) ?? {};
    if (typeof id !== 'string' || typeof startAt !== 'string')
      throw inconsistent(`record ${session} of ${SESSIONS.table} is not ${STORED_SESSION.name}`);
    const text = `${nextSessionFields(startAt, id)},`;
    offsets[session + 1] = offsets[session] + Buffer.byteLength(text);
    texts.push(text);
  }
  const fields = sharedBytes(offsets[count]);
  fields.set(Buffer.from(texts.join('')));
  return { bytes: fields, offsets };
}

/** Builds the index `startAt` of the events from the starts of their sessions. */
export function eventsByStart({ starts, startOrder, eventOf }: SessionsImage): CollectionImage['instants'] {
  const sorted = sharedInt64s(starts.length);
  const rows = sharedUint32s(starts.length);
  startOrder.forEach((session, i) => {
    sorted[i] = starts[session];
    rows[i] = eventOf[session];
  });
  return { startAt: { sorted, rows } };
}

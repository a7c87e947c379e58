import { findRow } from '../../store/index/id-index.ts';
import { instantImage } from '../../store/index/instant-index.ts';
import { countStarts } from '../../store/index/row-sets.ts';
import { decodeText } from '../../store/index/texts.ts';
import { type Int64s, sharedInt64s, sharedUint32s, type Uint32s } from '../../store/memory/shared-arrays.ts';
import { nextSessionFields } from '../../store/next-sessions.ts';
import type { CollectionImage, ScheduleImage } from '../../store/organization-image.ts';
import { recordsImage } from '../../store/records-builder.ts';
import { recordAt } from '../../store/records.ts';
import { SESSIONS } from '../format/layout.ts';
import { rowCount } from '../format/manifest.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import { loadCollection, type LoadedCollection, type StoredList } from './collection-loader.ts';
import { STORED_SESSION } from './record-form.ts';
import type { Run } from './run-reader.ts';

const [EVENT_COLUMN, STARTS_COLUMN] = SESSIONS.columns;

/**
 * Loads the sessions of an organization, with the schedules of its events.
 * Refuses sessions without an event or out of order, and events without a session.
 */
export function loadSessions(
  list: StoredList,
  events: CollectionImage,
): LoadedCollection & { readonly schedule: ScheduleImage } {
  if (list.same !== undefined) return { ...loadCollection(list), schedule: list.same.schedule };
  const count = rowCount(list.entries);
  const [eventOf, starts] = [sharedUint32s(count), sharedInt64s(count)];
  // The columns become the schedules, and no index.
  const stored = { ...list, layout: { ...SESSIONS, columns: [] } };
  const sessions = loadCollection(stored, undefined, (run) => {
    const { firstRow } = run.entry;
    eventOf.set(eventsOf(run, events), firstRow);
    starts.set(run.instants(STARTS_COLUMN.column), firstRow);
  });
  const firstOfEvent = firstOfEach(events.count, eventOf, starts);
  const startAt = instantImage(starts, eventOf);
  const nextFields = nextFieldsOf(sessions.image);
  return { ...sessions, schedule: { firstOfEvent, eventOf, starts, startAt, nextFields } };
}

function eventsOf(run: Run, { ids, records }: CollectionImage): Uint32s {
  const { texts, textOf } = run.texts(EVENT_COLUMN.column);
  const events = Array.from(texts.ends, (_, i) => findRow(ids, records, decodeText(texts, i)));
  return textOf.map((text, i) => {
    if (events[text] >= 0) return events[text];
    throw new RefusedSnapshot(
      'event-without-session',
      `record ${run.entry.firstRow + i} of ${SESSIONS.table} is a session of "${decodeText(texts, text)}", ` +
        'which is not an event of the organization',
    );
  });
}

/** Returns the first session of each event, and the number of sessions. */
function firstOfEach(events: number, eventOf: Uint32s, starts: Int64s): Uint32s {
  for (const [session, event] of eventOf.entries()) {
    const last = session === 0 ? -1 : eventOf[session - 1];
    const isInOrder = event === last ? starts[session] >= starts[session - 1] : event > last;
    if (!isInOrder) throw inconsistent(`record ${session} of ${SESSIONS.table} is out of order`);
  }
  const first = countStarts(eventOf, sharedUint32s(events + 1));
  const empty = first.findIndex((start, event) => start === first[event + 1]);
  if (empty < 0) return first;
  throw new RefusedSnapshot('event-without-session', `record ${empty} of event_runs has no session`);
}

/** Builds the fields that each session adds to its event's record while it is the next. */
function nextFieldsOf({ count, records }: CollectionImage): ScheduleImage['nextFields'] {
  const texts = Array.from({ length: count }, (_, session) => {
    const { id, startAt } = STORED_SESSION.read(recordAt(records, session).toString()) ?? {};
    if (typeof id === 'string' && typeof startAt === 'string') return nextSessionFields(startAt, id);
    throw inconsistent(`record ${session} of ${SESSIONS.table} is not ${STORED_SESSION.name}`);
  });
  return recordsImage(texts);
}

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
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import { loadCollection, type LoadedCollection, type StoredList } from './collection-loader.ts';
import { STORED_SESSION } from './record-form.ts';
import type { Block } from './block.ts';

/** Positions of the columns. */
const [EVENT_ID, STARTS] = SESSIONS.columns.keys();

/**
 * Loads the sessions of an organization, with the schedules of its events.
 * Refuses sessions without an event or out of order, and events without a session.
 */
export function loadSessions(
  list: StoredList,
  events: CollectionImage,
): LoadedCollection & { readonly schedule: ScheduleImage } {
  if (list.same !== undefined) return { ...loadCollection(list), schedule: list.same.schedule };
  const { recordCount: count } = list.declared;
  const [eventOf, starts] = [sharedUint32s(count), sharedInt64s(count)];
  // The columns become the schedules, and no index.
  const stored = { ...list, layout: { ...SESSIONS, columns: [] } };
  const sessions = loadCollection(stored, undefined, (block) => {
    const [firstRow] = block.rows;
    eventOf.set(eventsOf(block, events), firstRow);
    starts.set(block.instants(STARTS), firstRow);
  });
  const firstOfEvent = firstOfEach(events.count, eventOf, starts);
  const startAt = instantImage(starts, eventOf);
  const nextFields = nextFieldsOf(sessions.image);
  return { ...sessions, schedule: { firstOfEvent, eventOf, starts, startAt, nextFields } };
}

function eventsOf(block: Block, { ids, records }: CollectionImage): Uint32s {
  const texts = block.texts(EVENT_ID);
  let [last, row] = ['', -1];
  return block.rows.map((session, i) => {
    const id = decodeText(texts, i);
    if (id !== last) [last, row] = [id, findRow(ids, records, id)];
    if (row >= 0) return row;
    throw new RefusedSnapshot(
      'event-without-session',
      `record ${session} of sessions is a session of "${id}", which is not an event of the organization`,
    );
  });
}

/** Returns the first session of each event, and the number of sessions. */
function firstOfEach(events: number, eventOf: Uint32s, starts: Int64s): Uint32s {
  for (const [session, event] of eventOf.entries()) {
    const last = session === 0 ? -1 : eventOf[session - 1];
    const isInOrder = event === last ? starts[session] >= starts[session - 1] : event > last;
    if (!isInOrder) throw inconsistent(`record ${session} of sessions is out of order`);
  }
  const first = countStarts(eventOf, sharedUint32s(events + 1));
  const empty = first.findIndex((start, event) => start === first[event + 1]);
  if (empty < 0) return first;
  throw new RefusedSnapshot('event-without-session', `record ${empty} of events has no session`);
}

/** Builds the fields that each session adds to its event's record while it is the next. */
function nextFieldsOf({ count, records }: CollectionImage): ScheduleImage['nextFields'] {
  const texts = Array.from({ length: count }, (_, session) => {
    const { id, startAt } = STORED_SESSION.read(recordAt(records, session).toString()) ?? {};
    if (typeof id === 'string' && typeof startAt === 'string') return nextSessionFields(startAt, id);
    throw inconsistent(`record ${session} of sessions is not ${STORED_SESSION.name}`);
  });
  return recordsImage(texts);
}

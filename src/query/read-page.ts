import type { CollectionName } from '../contract/operations.ts';
import { findRow } from '../store/index/id-index.ts';
import type { Row, Uint32s } from '../store/memory/shared-arrays.ts';
import { nextSession, nextSessionFields, startedSessions } from '../store/next-sessions.ts';
import type { ListImage } from '../store/organization-image.ts';
import { lengthAt, recordAt, recordSpan, recordsAt } from '../store/records.ts';
import { cutOffer } from './offer-view.ts';
import type { Plan } from './plan.ts';
import { rowsAt, select, selectInSpan, type Selection, totalOf } from './select.ts';

const SEPARATOR = Buffer.from(',');
const NO_NEXT_SESSION = Buffer.from(nextSessionFields(null, null));

/** Stored bytes of a page beyond which its partial views are cut one by one. */
const MAX_CUT_BYTES = 256 * 1024;

/**
 * Reads one page of a list, and its total over all pages. The segments are the JSON texts of the records, joined by
 * commas; most are views of the store. A page past the end has none. Those of a long partial view are cut record by
 * record when they are taken, and not in an array.
 * @param parentId the event whose sessions are listed
 * @param now milliseconds since the epoch
 * @returns undefined when the parent does not exist
 */
export function readPage(list: ListImage, plan: Plan, parentId: string | undefined, now: number) {
  const selection = selectRecords(list, plan, parentId);
  if (selection === undefined) return undefined;
  const totalRecords = totalOf(selection);
  const start = (plan.page - 1) * plan.perPage;
  const end = Math.min(start + plan.perPage, totalRecords);
  const segmentsOf = (): Buffer[] | Iterable<readonly Buffer[]> => {
    if (start >= end) return [];
    const { records } = list.collections[plan.collection];
    if (isServedAsStored(plan) && selection.kind === 'span')
      return recordSpan(records, selection.from + start, selection.from + end);
    const rows = rowsAt(selection, start, end);
    if (isServedAsStored(plan)) return recordsAt(records, rows);
    const bytes = rows.reduce((sum, row) => sum + lengthAt(records, row), 0);
    if (plan.view !== undefined && bytes > MAX_CUT_BYTES) return oneByOne(list, plan, rows, now);
    const segments: Buffer[] = [];
    for (const row of rows) {
      if (segments.length > 0) segments.push(SEPARATOR);
      segments.push(...recordSegments(list, plan, row, now));
    }
    return segments;
  };
  return { totalRecords, segments: segmentsOf() };
}

function* oneByOne(list: ListImage, plan: Plan, rows: Uint32s, now: number): Generator<readonly Buffer[]> {
  for (const [i, row] of rows.entries()) {
    const segments = recordSegments(list, plan, row, now);
    yield i === 0 ? segments : [SEPARATOR, ...segments];
  }
}

/**
 * Selects the records of a list.
 * @param parentId the event whose sessions are listed
 * @returns undefined when the parent does not exist
 */
export function selectRecords(
  { collections, schedule }: ListImage,
  { collection, where }: Plan,
  parentId: string | undefined,
): Selection | undefined {
  if (parentId === undefined) return select(collections[collection], where);
  const { ids, records } = collections['events'];
  const event = findRow(ids, records, parentId);
  if (event < 0) return undefined;
  const { starts, firstOfEvent } = schedule;
  return selectInSpan(starts, 'startAt', firstOfEvent[event], firstOfEvent[event + 1], where);
}

/** Reads the JSON text of a record, in segments. Returns undefined if it does not exist. */
export function readRecord(
  list: ListImage,
  collection: CollectionName,
  id: string,
  now: number,
): readonly Buffer[] | undefined {
  const { ids, records } = list.collections[collection];
  const row = findRow(ids, records, id);
  return row < 0 ? undefined : recordSegments(list, { collection }, row, now);
}

/**
 * Returns a tag that identifies the served records.
 * It consists of the digest of their list and, for events, the number of started sessions.
 */
export function contentTag({ digest, schedule }: ListImage, collection: CollectionName, now: number): string {
  return collection === 'events' ? `${digest}.${startedSessions(schedule, now)}` : digest;
}

/** Returns whether the records of a plan are served as they are stored. Others are made of segments. */
export function isServedAsStored({ collection, view }: Plan): boolean {
  return collection !== 'events' && view === undefined;
}

/** Reads a record in segments. The first one begins with the id. */
export function recordSegments(
  { collections, schedule }: ListImage,
  { collection, view }: Pick<Plan, 'collection' | 'view'>,
  row: Row,
  now: number,
): readonly Buffer[] {
  const record = recordAt(collections[collection].records, row);
  if (view !== undefined) return [cutOffer(record, view)];
  if (collection !== 'events') return [record];
  // An event is stored without the fields of the next session, which depend on the time.
  const next = nextSession(schedule, row, now);
  const nextFields = next < 0 ? NO_NEXT_SESSION : recordAt(schedule.nextFields, next);
  return [record.subarray(0, -1), nextFields];
}

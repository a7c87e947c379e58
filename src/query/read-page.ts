import type { CollectionName, ListName } from '../contract/operations.ts';
import { findRow } from '../store/index/id-index.ts';
import type { Row } from '../store/memory/shared-arrays.ts';
import { nextSessionFields } from '../store/next-sessions.ts';
import type { ListImage } from '../store/organization-image.ts';
import { type AnyStore, DeletionsStore, OrganizationStore } from '../store/organization-store.ts';
import { recordAt, recordSpan, recordsAt } from '../store/records.ts';
import { offerSegments } from './offer-view.ts';
import type { Plan } from './plan.ts';
import { rowsAt, select, selectInSpan, type Selection, totalOf } from './select.ts';

/** One page of a list, and the total over all of its pages. */
export interface PageOfRecords {
  readonly totalRecords: number;
  /** The JSON texts of the records, joined by commas. Most segments are views of the store. */
  readonly segments: readonly Buffer[];
}

const SEPARATOR = Buffer.from(',');
const NO_NEXT_SESSION = Buffer.from(nextSessionFields(null, null));

/**
 * Reads one page of a list. A page past the end has no segments.
 * @param parentId the event whose sessions are listed
 * @param now milliseconds since the epoch
 * @returns undefined when the parent does not exist
 */
export function readPage(
  store: AnyStore,
  plan: Plan,
  parentId: string | undefined,
  now: number,
): PageOfRecords | undefined {
  const selection = selectRecords(store, plan, parentId);
  if (selection === undefined) return undefined;
  const totalRecords = totalOf(selection);
  const start = (plan.page - 1) * plan.perPage;
  const end = Math.min(start + plan.perPage, totalRecords);
  const segments = start < end ? readRows(store, plan, selection, start, end, now) : [];
  return { totalRecords, segments };
}

/**
 * Selects the records of a list.
 * @param parentId the event whose sessions are listed
 * @returns undefined when the parent does not exist
 */
export function selectRecords(
  store: AnyStore,
  plan: Plan,
  parentId: string | undefined,
): Selection | undefined {
  return parentId === undefined
    ? select(listOf(store, plan.collection), plan.where)
    : sessionsOf(contentOf(store), plan, parentId);
}

/** Reads the JSON text of a record, in segments. Returns undefined if it does not exist. */
export function readRecord(
  store: AnyStore,
  collection: CollectionName,
  id: string,
  now: number,
): readonly Buffer[] | undefined {
  const content = contentOf(store);
  const { ids, records } = content.image[collection];
  const row = findRow(ids, records, id);
  if (row < 0) return undefined;
  return collection === 'events' ? eventSegments(content, row, now) : [recordAt(records, row)];
}

/**
 * Returns a tag that identifies the served records.
 * It consists of the content digest and, for events, the number of started sessions.
 */
export function contentTag(store: AnyStore, collection: ListName, now: number): string {
  return collection === 'events'
    ? `${store.contentDigest}.${contentOf(store).nextSessions.epoch(now)}`
    : store.contentDigest;
}

/**
 * Returns a list of a store.
 * @throws TypeError when the list belongs to the other part of the organization's data
 */
export function listOf(store: AnyStore, name: ListName): ListImage {
  if (name !== 'deletions') return contentOf(store).image[name];
  if (store instanceof DeletionsStore) return store.image.deletions;
  throw new TypeError('the store has no deletions');
}

function contentOf(store: AnyStore): OrganizationStore {
  if (store instanceof OrganizationStore) return store;
  throw new TypeError('the store has no content');
}

function sessionsOf(store: OrganizationStore, plan: Plan, eventId: string): Selection | undefined {
  const { events, sessions } = store.image;
  const event = findRow(events.ids, events.records, eventId);
  if (event < 0) return undefined;
  return selectInSpan(
    sessions.starts,
    sessions.firstOfEvent[event],
    sessions.firstOfEvent[event + 1],
    plan.where,
  );
}

/** Reads the records at the positions `start … end` of a selection. */
function readRows(
  store: AnyStore,
  plan: Plan,
  selection: Selection,
  start: number,
  end: number,
  now: number,
): Buffer[] {
  if (isServedAsStored(plan)) {
    const { records } = listOf(store, plan.collection);
    return selection.kind === 'span'
      ? [recordSpan(records, selection.from + start, selection.from + end)]
      : recordsAt(records, rowsAt(selection, start, end));
  }
  const segments: Buffer[] = [];
  for (const row of rowsAt(selection, start, end)) {
    if (segments.length > 0) segments.push(SEPARATOR);
    segments.push(...servedSegments(store, plan, row, now));
  }
  return segments;
}

/** Returns whether the records of a plan are served as they are stored. Others are made of segments. */
export function isServedAsStored({ collection, view }: Plan): boolean {
  return collection !== 'events' && view === undefined;
}

/** Reads a record that is not served as it is stored, in segments. */
export function servedSegments(
  store: AnyStore,
  { collection, view }: Plan,
  row: Row,
  now: number,
): readonly Buffer[] {
  if (view === undefined) return eventSegments(contentOf(store), row, now);
  return offerSegments(recordAt(listOf(store, collection).records, row), view);
}

/** Reads an event. Its record is stored without the fields of the next session, which depend on the time. */
function eventSegments(store: OrganizationStore, event: Row, now: number): [Buffer, Buffer] {
  const { events, sessions } = store.image;
  const record = recordAt(events.records, event);
  const next = store.nextSessions.of(event, now);
  const nextFields = next < 0 ? NO_NEXT_SESSION : recordAt(sessions.nextFields, next);
  return [record.subarray(0, -1), nextFields];
}

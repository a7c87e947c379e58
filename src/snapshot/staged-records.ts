import type { EventSchedule } from './event-schedule.ts';
import { CONTENT_TABLES } from './format.ts';
import type { RecordRow } from './snapshot-writer.ts';
import type { StagedRows } from './staged-rows.ts';
import type { Value } from './table-writer.ts';

/**
 * Staged rows as rows of their table: the staged field of the same name for each column, but for those that
 * `derive` gives.
 */
function* recordRows(
  staged: StagedRows,
  organizationId: string,
  keys: Iterable<number>,
  derive: (key: number, record: Buffer) => Readonly<Record<string, Value>> = () => ({}),
): Generator<RecordRow> {
  const organization = staged.organization(organizationId);
  const columns = CONTENT_TABLES.find(({ name }) => name === staged.layout.table)?.columns ?? [];
  const fieldOf = columns.map((column) => staged.fieldNames.indexOf(column));
  const recordField = staged.fieldNames.indexOf('record');
  const relationFields = staged.layout.relations.map(({ table }) => staged.fieldNames.indexOf(table));
  for (const key of keys) {
    const fields = staged.read(organization, key);
    const derived = derive(key, fields[recordField]);
    yield {
      values: columns.map((column, i) => derived[column] ?? fields[fieldOf[i]]),
      relations: relationFields.map((field) => fields[field]),
    };
  }
}

export function listRows(staged: StagedRows, organizationId: string): Iterable<RecordRow> {
  return recordRows(staged, organizationId, staged.organization(organizationId).inOrder());
}

export function eventRows(
  events: StagedRows,
  organizationId: string,
  schedule: EventSchedule,
): Iterable<RecordRow> {
  return recordRows(events, organizationId, schedule.events, (event, record) => ({
    record: schedule.withSummary(event, record),
  }));
}

/** `firstEventRow`: the row of the organization's first event in the file. */
export function sessionRows(
  sessions: StagedRows,
  organizationId: string,
  schedule: EventSchedule,
  firstEventRow: number,
): Iterable<RecordRow> {
  return recordRows(sessions, organizationId, schedule.sessions, (session) => ({
    event_row: { row: schedule.eventRowOf[session], firstRow: firstEventRow },
  }));
}

import { IANAZone } from 'luxon';
import { SESSIONS } from '../../format/layout.ts';
import type { ImportFolder } from '../import/import-files.ts';
import type { Warning } from '../import/rules.ts';
import { eventOf } from './staging-file.ts';
import type { Staging } from './staging.ts';

/**
 * Warns of imported sessions whose start is in UTC, and the zone of their event is not: readers see the time as written.
 * An organization is no case if a start of it has another offset.
 */
export function warningsOfUtc({ database }: Staging, folder: ImportFolder): Warning[] {
  const inUtc = database.prepare<
    [],
    { readonly line: number; readonly start: string; readonly zone: string }
  >(
    `WITH session AS MATERIALIZED (
       SELECT organization, ${eventOf(SESSIONS)} AS event, line, record ->> 'startAt' AS start
       FROM all_sessions WHERE origin = 'import'
     )
     SELECT line, start, zone FROM session
     JOIN (SELECT organization, id AS event, record ->> 'eventTimezone' AS zone FROM all_events)
       USING (organization, event)
     WHERE organization NOT IN (SELECT organization FROM session WHERE start NOT LIKE '%_00:00')
     ORDER BY line`,
  );
  const source = folder.files.get(SESSIONS.name) ?? SESSIONS.name;
  let warning: Warning | undefined;
  // One row at a time: there may be any number of sessions.
  for (const { line, start, zone } of inUtc.iterate()) {
    if (IANAZone.create(zone).offset(Date.parse(start)) === 0) continue;
    const shownAs = `shown as ${start.slice(11, 16)} to readers`;
    const problem = `startAt is in UTC, the event's zone is ${zone}: ${shownAs}; export local offsets, see docs/data.md#local-times`;
    warning ??= { source, problem, count: 0, first: `line ${line}` };
    warning = { ...warning, count: warning.count + 1 };
  }
  return warning === undefined ? [] : [warning];
}

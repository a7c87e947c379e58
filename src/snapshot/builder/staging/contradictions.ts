import type { CollectionName } from '../../../contract/operations.ts';
import { type CollectionLayout, EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../../format/layout.ts';
import type { ImportFolder } from '../import/import-files.ts';
import { type FieldProblem, UNIQUE } from '../import/problems.ts';
import type { EarlierSnapshot } from './earlier-snapshot.ts';
import { eventOf, selectAll } from './staging-file.ts';
import type { Staging } from './staging.ts';

/** SQL expressions of the fields that an import line has and its stored record lacks. */
const IMPORT_ONLY: ReadonlyMap<CollectionLayout, string> = new Map([
  [SESSIONS, `'"eventId":' || event_id || ',' ||`],
  [OFFERS, `'"heldByEventIds":' || event_ids || ',' ||`],
]);

/**
 * Rejects the records of an import that contradict others: repeated ids, sessions without their event, and events
 * without a session.
 * Each check ignores records that an earlier one rejected. Bad lines are checked too, to report all their problems.
 * A rejection follows from another one when a bad line may have been the missing event or session.
 * It follows also when the file of the missing record is incomplete.
 *
 * Leaves the ids of the records that stay, and the table `sessions_by_event`.
 * @param lines number of staged lines, without bad ones
 */
export function rejectContradictions(
  staging: Staging,
  folder: ImportFolder,
  lines: Readonly<Record<CollectionName, number>>,
  base: EarlierSnapshot | undefined,
): void {
  const { database, files, ids, rejections } = staging;
  collectIds(EVENTS);
  database.exec(`CREATE TABLE events_of_sessions AS SELECT organization, event FROM (${allLines(SESSIONS)})`);
  rejectSessions();
  collectIds(SESSIONS);
  if (base !== undefined) rejectSessions();
  database.exec(`
    CREATE TABLE sessions_by_event (
      organization INTEGER, event TEXT, instant INTEGER, id TEXT, start_at TEXT,
      PRIMARY KEY (organization, event, instant, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO sessions_by_event
    ${selectAll(files, SESSIONS.name, `organization, ${eventOf(SESSIONS)}, instant, id, record -> 'startAt'`)}`);
  reject(
    EVENTS,
    { field: EVENTS.resource.id, reason: 'must have a session' },
    `SELECT origin, line, id AS value, '' AS addition, ${mayHave(SESSIONS)}
       OR (organization, event) IN (SELECT organization, event FROM events_of_sessions) AS is_consequence
     FROM (${allLines(EVENTS)})
     WHERE (organization, event) NOT IN (SELECT organization, event FROM sessions_by_event)`,
  );
  for (const layout of [TICKETS, ORDERS, OFFERS]) collectIds(layout);

  /** Collects the ids of a collection: of its lines, of which repeated ones are rejected, and of the base. */
  function collectIds(layout: CollectionLayout): void {
    const { name, resource } = layout;
    const named = ids.addLines(name, allLines(layout));
    const bad = `SELECT count(*) FROM (${selectAll(files, `bad_${name}`, 'organization, id')}) WHERE ${IS_KNOWN}`;
    const badLines = database.prepare<[], number>(bad).pluck().get() ?? 0;
    if (named < lines[name] + badLines) {
      reject(
        layout,
        { field: resource.id, reason: UNIQUE },
        `SELECT listed.origin, listed.line, id AS value, ' also on line ' || named.line AS addition, 0 AS is_consequence
         FROM (${allLines(layout)}) AS listed CROSS JOIN ids AS named USING (organization, id)
         WHERE named.collection = '${name}' AND listed.line <> named.line`,
      );
    }
    if (badLines > 0) database.exec(`DELETE FROM ids WHERE collection = '${name}' AND origin = 'bad'`);
    base?.stage(layout, staging);
  }

  function rejectSessions(): void {
    reject(
      SESSIONS,
      { field: 'eventId', reason: 'must be an event of the organization' },
      `SELECT origin, line, event AS value, '' AS addition, ${mayHave(EVENTS)} AS is_consequence
       FROM (${allLines(SESSIONS)})
       WHERE event NOTNULL AND (organization, event) NOT IN
         (SELECT organization, id FROM ids WHERE collection = 'events' AND origin NOT LIKE 'deletion%')`,
    );
  }

  /**
   * Moves records to the rejections, and adds the problem to lines that are there.
   * @param rows SQL that selects `origin`, `line`, the `value` found as a sort key, an `addition` to it, and
   *   `is_consequence`: whether the problem only follows from another rejection
   */
  function reject(layout: CollectionLayout, problem: FieldProblem, rows: string): void {
    database.exec(`CREATE TEMP TABLE rejected AS ${rows}`);
    if (database.prepare('SELECT 1 FROM rejected').get() !== undefined) {
      const { name } = layout;
      const isRejected = '(origin, line) IN (SELECT origin, line FROM rejected)';
      for (const schema of files) {
        // The lines are in the files of the threads, and the records of a base in this one.
        const ofBase = schema === 'main';
        const file = (ofBase ? base?.path : folder.files.get(name)) ?? name;
        const addition = ofBase ? `' in ${name} ' || json_quote(id_of(id))` : 'addition';
        const found = `'"' || substr(id_of(value), 1, 40) || '"' || ${addition}`;
        rejections.addSelected(
          { file, ...problem, ...(ofBase && { ofBase }) },
          `SELECT line, ${found} AS found, is_consequence, '{"organizationId":' || json_quote(organization_id(organization))
             || ',' || ${IMPORT_ONLY.get(layout) ?? ''} substr(record, 2) AS text
           FROM rejected JOIN ${schema}.${name} USING (origin, line)
           UNION ALL SELECT line, ${found}, FALSE, NULL
           FROM rejected JOIN ${schema}.bad_${name} USING (line) WHERE origin = 'bad' AND NOT is_consequence`,
        );
        database.exec(`DELETE FROM ${schema}.${name} WHERE ${isRejected}`);
      }
      database.exec(`DELETE FROM ids WHERE collection = '${name}' AND ${isRejected}`);
    }
    database.exec('DROP TABLE rejected');
  }

  /** Returns an SQL condition: whether lines that are not records may have the event `event`, or a session of it. */
  function mayHave({ name }: CollectionLayout): string {
    if (folder.incomplete.has(name)) return 'TRUE';
    const bad = selectAll(files, `bad_${name}`, 'event');
    return `(
      event IN (SELECT event FROM (${bad}) WHERE event NOTNULL)
      OR EXISTS (SELECT 1 FROM (${bad}) WHERE event IS NULL)
    )`;
  }

  /** Returns SQL that selects all records of a collection, and its bad lines with a known id, whose origin is `bad`. */
  function allLines(layout: CollectionLayout): string {
    const tables = files.flatMap((schema) => [
      `SELECT origin, line, organization, id, instant, ${eventOf(layout)} AS event FROM ${schema}.${layout.name}`,
      `SELECT 'bad', line, organization, id, NULL, event FROM ${schema}.bad_${layout.name} WHERE ${IS_KNOWN}`,
    ]);
    return tables.join(' UNION ALL ');
  }
}

const IS_KNOWN = 'organization NOTNULL AND id NOTNULL';

import type { CollectionName } from '../../../contract/operations.ts';
import {
  type CollectionLayout,
  COLLECTIONS,
  EVENTS,
  OFFERS,
  ORDERS,
  SESSIONS,
  TICKETS,
} from '../../format/layout.ts';
import type { ImportFolder } from '../import/import-files.ts';
import { type FieldProblem, UNIQUE } from '../import/problems.ts';
import type { EarlierSnapshot } from './earlier-snapshot.ts';
import { eventOf } from './staging-file.ts';
import type { Staging } from './staging.ts';

interface Import {
  readonly staging: Staging;
  readonly folder: ImportFolder;
  readonly earlier: EarlierSnapshot | undefined;
  /** Number of staged lines, without bad ones. */
  readonly lines: Readonly<Record<CollectionName, number>>;
}

/**
 * Rejects the records of an import that contradict others: repeated ids, sessions without their event, and events
 * without a session.
 * Each check ignores records that an earlier one rejected. Bad lines are checked too, to report all their problems.
 * A rejection follows from another one when a bad line may have been the missing event or session.
 * It follows also when the file of the missing record is incomplete.
 *
 * Leaves the ids of the records that stay, and the table `sessions_by_event`.
 */
export function rejectContradictions(imported: Import): void {
  const { database } = imported.staging;
  for (const layout of COLLECTIONS) database.exec(knownLines(layout));
  imported.staging.findLinked((id) => {
    const earlier = imported.earlier?.snapshot.changes && imported.earlier.organizations.get(id);
    return earlier !== undefined && earlier.lists.sessions.rowCount > 0;
  });
  collectIds(imported, EVENTS);
  database.exec('CREATE TABLE events_of_sessions AS SELECT organization, event FROM known_sessions');
  rejectSessionsWithoutEvent(imported);
  collectIds(imported, SESSIONS);
  // Has also the sessions of a base that are rejected with their bad event, which then lacks no session.
  database.exec(SESSIONS_BY_EVENT);
  if (imported.staging.staying.includes(true)) rejectSessionsWithoutEvent(imported, "origin = 'base'");
  rejectEventsWithoutSession(imported);
  for (const layout of [TICKETS, ORDERS, OFFERS]) collectIds(imported, layout);
}

const IS_KNOWN = 'organization NOTNULL AND id NOTNULL';

/** Returns SQL that creates a table of a collection's bad lines, and a view of its records and known bad lines. */
function knownLines(layout: CollectionLayout): string {
  const { name, resource } = layout;
  const keyOf = (field: string) => `sort_key(nullif(text_in(text, '${field}'), ''))`;
  return `
    CREATE TABLE bad_${name} AS
    SELECT origin, line, position_of(organization_id) AS organization, ${keyOf(resource.id)} AS id,
      NULL AS instant, ${keyOf(layout === EVENTS ? resource.id : 'eventId')} AS event
    FROM rejections WHERE list = '${name}';
    CREATE TEMP VIEW known_${name} AS
    SELECT origin, line, organization, id, instant, ${eventOf(layout)} AS event FROM all_${name}
    UNION ALL SELECT * FROM bad_${name} WHERE ${IS_KNOWN}`;
}

/** Collects the ids of a collection: of its lines, of which repeated ones are rejected, and of staged earlier records. */
function collectIds(imported: Import, layout: CollectionLayout): void {
  const { staging, earlier, lines } = imported;
  const { name, resource } = layout;
  const distinct = staging.ids.addLines(name);
  const count = staging.database.prepare<[], number>(`SELECT count(*) FROM bad_${name} WHERE ${IS_KNOWN}`);
  const bad = count.pluck().get() ?? 0;
  if (distinct < lines[name] + bad) {
    reject(
      imported,
      layout,
      { field: resource.id, reason: UNIQUE },
      `SELECT listed.*, id AS value, ' also on line ' || named.line AS addition, FALSE AS is_consequence
       FROM known_${name} AS listed CROSS JOIN ids AS named USING (organization, id)
       WHERE named.collection = '${name}' AND listed.line <> named.line`,
    );
  }
  if (bad > 0) staging.database.exec(`DELETE FROM ids WHERE collection = '${name}' AND origin = 'bad'`);
  earlier?.stage(layout, staging);
}

function rejectSessionsWithoutEvent(imported: Import, condition = 'TRUE'): void {
  reject(
    imported,
    SESSIONS,
    { field: 'eventId', reason: 'must be an event of the organization' },
    `SELECT *, event AS value, '' AS addition, ${mayBeOf('events', imported)} AS is_consequence
     FROM known_sessions
     WHERE ${condition} AND event NOTNULL AND (organization, event) NOT IN
       (SELECT organization, id FROM ids WHERE collection = 'events' AND origin NOT LIKE 'deletion%')`,
  );
}

const SESSIONS_BY_EVENT = `
  CREATE TABLE sessions_by_event (
    organization INTEGER, event BLOB, instant INTEGER, id BLOB, start_at TEXT,
    PRIMARY KEY (organization, event, instant, id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO sessions_by_event
  SELECT organization, ${eventOf(SESSIONS)}, instant, id, record -> 'startAt' FROM all_sessions`;

function rejectEventsWithoutSession(imported: Import): void {
  reject(
    imported,
    EVENTS,
    { field: EVENTS.resource.id, reason: 'must have a session' },
    `SELECT *, id AS value, '' AS addition, ${mayBeOf('sessions', imported)}
       OR (organization, event) IN (SELECT organization, event FROM events_of_sessions) AS is_consequence
     FROM known_events
     WHERE (organization, event) NOT IN (SELECT organization, event FROM sessions_by_event)`,
  );
}

/** Returns an SQL condition: whether lines that are not records may have the event `event`, or a session of it. */
function mayBeOf(name: CollectionName, { folder }: Import): string {
  // With an unknown event among those of bad lines, the condition is NULL for others.
  return folder.incomplete.has(name) ? 'TRUE' : `(event IN (SELECT event FROM bad_${name})) IS NOT FALSE`;
}

const IS_REJECTED = '(origin, line) IN (SELECT origin, line FROM rejected)';

/**
 * Moves records to the rejections, and adds the problem to bad lines unless it only follows from another rejection.
 * @param rows SQL that selects known lines with the `value` found as a sort key, an `addition` to it, and
 *   `is_consequence`: whether the problem only follows from another rejection
 */
function reject(
  { staging: { database, files }, folder, earlier }: Import,
  layout: CollectionLayout,
  { field, reason }: FieldProblem,
  rows: string,
): void {
  const { name } = layout;
  const addition = `iif(origin = 'base', ' in ${name} ' || json_quote(id_of(id)), addition)`;
  const problem = `json_object(
    'field', ?, 'reason', ?, 'found', '"' || substr(id_of(value), 1, 40) || '"' || ${addition}, 'isConsequence', is_consequence
  )`;
  database
    .prepare(
      `CREATE TEMP TABLE rejected AS
       SELECT origin, line, ${problem} AS problem FROM (${rows}) WHERE origin <> 'bad' OR NOT is_consequence`,
    )
    .run(field, reason);
  if (database.prepare('SELECT 1 FROM rejected').get() !== undefined) {
    for (const schema of files) {
      // The lines are in the files of the threads, and the records of a base in this one.
      const file = (schema === 'main' ? earlier?.path : folder.files.get(name)) ?? name;
      const insert = database.prepare(`
        INSERT INTO rejections (list, origin, line, file, reasons, organization_id)
        SELECT '${name}', origin, line, ?, json_array(json(problem)), organization_id(organization)
        FROM rejected JOIN ${schema}.${name} USING (origin, line)`);
      insert.run(file);
      database.exec(`DELETE FROM ${schema}.${name} WHERE ${IS_REJECTED}`);
    }
    database.exec(`
      UPDATE rejections SET reasons = json_insert(reasons, '$[#]', json(problem)) FROM rejected
      WHERE list = '${name}' AND rejections.origin = 'bad' AND rejected.origin = 'bad' AND rejections.line = rejected.line;
      DELETE FROM ids WHERE collection = '${name}' AND ${IS_REJECTED}`);
  }
  database.exec('DROP TABLE rejected');
}

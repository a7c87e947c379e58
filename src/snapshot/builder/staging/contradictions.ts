import type Database from 'better-sqlite3';
import { type CollectionLayout, EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../../format/layout.ts';
import type { ImportFolder } from '../import/import-files.ts';
import { UNIQUE } from '../import/problems.ts';
import type { Rejections } from './rejections.ts';
import { IMPORTED, OF_BASE, selectAll } from './staging-file.ts';

interface Contradiction {
  readonly field: string;
  readonly reason: string;
  /** SQL expression of the field's value. */
  readonly value: string;
  /** SQL that selects `line`, `addition` to the value found, and whether the rejection `follows` from another one. */
  readonly rows: string;
}

/** SQL expressions of the fields that an import line has and its stored record lacks. */
const IMPORT_ONLY: ReadonlyMap<CollectionLayout, readonly string[]> = new Map([
  [SESSIONS, [`'"eventId":' || event_id`]],
  [OFFERS, [`'"heldByEventIds":' || event_ids`]],
]);

/** Finds the records of an import that contradict each other, and moves them to the rejections. */
export class Contradictions {
  readonly #database: Database.Database;
  readonly #files: readonly string[];
  readonly #rejections: Rejections;
  readonly #base: string | undefined;

  /**
   * @param files schema names of the staging files, which are attached to the database
   * @param base path of the base; undefined without one
   */
  constructor(
    database: Database.Database,
    files: readonly string[],
    rejections: Rejections,
    base: string | undefined,
  ) {
    this.#database = database;
    this.#files = files;
    this.#rejections = rejections;
    this.#base = base;
  }

  /**
   * Rejects repeated ids, sessions without their event, and events without a session.
   * Each check ignores records that an earlier one rejected. Bad lines are checked too, to report all their problems.
   * A rejection follows from another one when a bad line may have been the missing event or session.
   * It follows also when the file of the missing record is incomplete.
   *
   * Leaves the tables `events_by_id` and `sessions_by_event` of the records that stay. Their columns have the types of the
   * staged ones: SQLite does not look up a value in an index over columns of another type.
   */
  reject({ files, incomplete }: ImportFolder): void {
    const fileOf = ({ name }: CollectionLayout) => files.get(name) ?? name;
    const mayHave = (layout: CollectionLayout) =>
      incomplete.has(layout.name) ? 'TRUE' : this.#isBad(layout);
    this.#rejectRepeatedIds(EVENTS, fileOf(EVENTS));
    this.#database.exec(`
      CREATE TABLE events_by_id (
        organization INTEGER, event_id TEXT, instant INTEGER, id TEXT, PRIMARY KEY (organization, event_id)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO events_by_id ${selectAll(this.#files, EVENTS, "organization, record -> 'id', instant, id")}`);
    this.#database.exec(`
      CREATE TABLE events_of_sessions AS ${selectAll(this.#files, SESSIONS, 'organization, event_id')}`);
    this.#rejectSelected(SESSIONS, fileOf(SESSIONS), {
      field: 'eventId',
      value: "event_id ->> '$'",
      reason: 'must be an event of the organization',
      rows: `
        SELECT line, '' AS addition, ${mayHave(EVENTS)} AS follows
        FROM (${this.#allLines(SESSIONS, 'line, organization, event_id')})
        WHERE (organization, event_id) NOT IN (SELECT organization, event_id FROM events_by_id)`,
    });
    this.#rejectRepeatedIds(SESSIONS, fileOf(SESSIONS));
    this.#database.exec(`
      CREATE TABLE sessions_by_event (
        organization INTEGER, event_id TEXT, instant INTEGER, id TEXT, start_at TEXT,
        PRIMARY KEY (organization, event_id, instant, id)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO sessions_by_event ${selectAll(this.#files, SESSIONS, "organization, event_id, instant, id, record -> 'startAt'")}`);
    this.#rejectSelected(EVENTS, fileOf(EVENTS), {
      field: EVENTS.resource.id,
      value: `record ->> '${EVENTS.resource.id}'`,
      reason: 'must have a session',
      rows: `
        SELECT line, '' AS addition, ${mayHave(SESSIONS)}
          OR (organization, event_id) IN (SELECT organization, event_id FROM events_of_sessions) AS follows
        FROM (${this.#allLines(EVENTS, "line, organization, record -> 'id' AS event_id")})
        WHERE (organization, event_id) NOT IN (SELECT organization, event_id FROM sessions_by_event)`,
    });
    for (const layout of [TICKETS, ORDERS, OFFERS]) this.#rejectRepeatedIds(layout, fileOf(layout));
  }

  #rejectRepeatedIds(layout: CollectionLayout, file: string): void {
    const { id } = layout.resource;
    this.#rejectSelected(layout, file, {
      field: id,
      value: `record ->> '${id}'`,
      reason: UNIQUE,
      rows: `
        SELECT line, ' also on line ' || first AS addition, 0 AS follows
        FROM (
          SELECT line, first_value(line) OVER (PARTITION BY organization, id ORDER BY is_bad, line) AS first
          FROM (${this.#allLines(layout, 'line, organization, id')})
        )
        WHERE line <> first`,
    });
  }

  /** Moves records to the rejections, and adds the problem to lines that are there. */
  #rejectSelected(
    layout: CollectionLayout,
    file: string,
    { field, reason, value, rows }: Contradiction,
  ): void {
    const text = [
      `'{"organizationId":' || json_quote(organization_id)`,
      ...(IMPORT_ONLY.get(layout) ?? []),
      'substr(record, 2)',
    ].join(" || ',' || ");
    this.#database.exec(`CREATE TEMP TABLE rejected AS ${rows}`);
    const found = (addition: string) => `'"' || substr(${value}, 1, 40) || '"' || ${addition} AS found`;
    for (const staging of this.#files) {
      this.#rejections.addToBad(
        file,
        { field, reason },
        `SELECT line, ${found('addition')} FROM rejected JOIN ${staging}.bad_${layout.name} USING (line) WHERE NOT follows`,
      );
      const table = `${staging}.${layout.name}`;
      const select = (addition: string, condition: string) =>
        `SELECT line, ${found(addition)}, follows, ${text} AS text
         FROM rejected JOIN ${table} USING (line) JOIN organizations ON position = organization WHERE ${condition}`;
      this.#rejections.addSelected(file, { field, reason }, select('addition', IMPORTED));
      if (this.#base !== undefined) {
        const place = `' in ${layout.name} ' || (record -> '${layout.resource.id}')`;
        this.#rejections.ofBase += this.#rejections.addSelected(
          this.#base,
          { field, reason },
          select(place, OF_BASE),
          { ofBase: true },
        );
      }
      this.#database.exec(`DELETE FROM ${table} WHERE line IN (SELECT line FROM rejected)`);
    }
    this.#database.exec('DROP TABLE rejected');
  }

  /** Returns an SQL condition: whether a bad line may have the event `event_id`, or a session of it. */
  #isBad({ name }: CollectionLayout): string {
    const bad = this.#files.map((file) => `SELECT event_id FROM ${file}.bad_${name}`).join(' UNION ALL ');
    return `(
      event_id IN (SELECT event_id FROM (${bad}) WHERE event_id NOTNULL)
      OR EXISTS (SELECT 1 FROM (${bad}) WHERE event_id IS NULL)
    )`;
  }

  /** Returns SQL that selects from all records of a collection, and from its bad lines with a known id. */
  #allLines({ name }: CollectionLayout, columns: string): string {
    const tables = this.#files.flatMap((file) => [
      `SELECT ${columns}, 0 AS is_bad FROM ${file}.${name}`,
      `SELECT ${columns}, 1 AS is_bad FROM ${file}.bad_${name} WHERE organization NOTNULL AND id NOTNULL`,
    ]);
    return tables.join(' UNION ALL ');
  }
}

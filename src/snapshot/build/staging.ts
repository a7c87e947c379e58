import Database from 'better-sqlite3';
import { type JsonObject, parseObject } from '../format/json-values.ts';
import {
  type CollectionLayout,
  COLLECTIONS,
  EVENTS,
  OFFERS,
  ORDERS,
  SESSIONS,
  TICKETS,
} from '../format/layout.ts';
import { IMPORTED_ANEW } from './earlier-snapshot.ts';
import { ChangedIds } from './changed-ids.ts';
import { Deletions } from './deletions.ts';
import { UNIQUE } from './problems.ts';
import { Rejections } from './rejections.ts';
import type { StagedRecord } from './snapshot-writer.ts';

/** Cache of each staging file, and of each sort before it spills to temporary files. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Auxiliary threads of a sort. */
const SORT_THREADS = 2;

/** SQL conditions of staged records: lines of the import files, and records of the base (`LineBlock`). */
const IMPORTED = 'line > 0';
const OF_BASE = 'line < 0';

/** The imported records in the staging files of all threads, which SQLite cross-checks and sorts. */
export class Staging {
  readonly rejections: Rejections;
  readonly changes: ChangedIds;
  readonly deletions: Deletions;
  readonly #database: Database.Database;
  /** Schema names of the attached staging files. */
  readonly #files: string[] = [];
  /** Path of the base; undefined without one. */
  #base: string | undefined;

  /**
   * @param path a file that does not exist yet, for everything but the records
   * @param keepsLines whether the bad lines are stored
   */
  constructor(path: string, keepsLines: boolean) {
    this.#database = new Database(path);
    this.#database.pragma('journal_mode = OFF');
    this.#database.pragma('synchronous = OFF');
    this.#database.pragma(`threads = ${SORT_THREADS}`);
    this.rejections = new Rejections(this.#database, keepsLines);
    this.changes = new ChangedIds(this.#database);
    this.deletions = new Deletions(this.#database);
  }

  /**
   * Attaches the staging files.
   * @param organizationIds in ascending order
   */
  attach(files: readonly string[], organizationIds: readonly string[]): void {
    for (const [i, file] of files.entries()) {
      const name = `staging_${i}`;
      this.#database.prepare(`ATTACH ? AS ${name}`).run(file);
      this.#database.pragma(`${name}.journal_mode = OFF`);
      this.#database.pragma(`${name}.synchronous = OFF`);
      this.#database.pragma(`${name}.cache_size = -${CACHE_BYTES / 1024}`);
      this.#files.push(name);
    }
    this.#database.exec(
      'CREATE TABLE organizations (position INTEGER PRIMARY KEY, organization_id TEXT NOT NULL); BEGIN',
    );
    const insert = this.#database.prepare('INSERT INTO organizations VALUES (?, ?)');
    for (const [position, organizationId] of organizationIds.entries()) insert.run(position, organizationId);
  }

  /**
   * Collects the ids that the import changes in a base, and removes their events and sessions of the base.
   * @param base path of the base, for rejections
   */
  applyChanges(base: string): void {
    this.#base = base;
    for (const layout of COLLECTIONS)
      this.changes.addRecords(layout, this.#all(layout, 'organization, id', IMPORTED));
    this.changes.finish();
    for (const layout of IMPORTED_ANEW)
      for (const file of this.#files) this.changes.removeFrom(layout, `${file}.${layout.name}`, OF_BASE);
  }

  /**
   * Rejects repeated ids, sessions without their event, and events without a session.
   * Each check ignores records that an earlier one rejected. Bad lines are checked too, to report all their problems.
   * A rejection follows from another one when a bad line may have been the missing event or session.
   * @param fileOf returns the import file of a collection
   */
  rejectContradictions(fileOf: (layout: CollectionLayout) => string): void {
    this.#rejectRepeatedIds(EVENTS, fileOf(EVENTS));
    this.#database.exec(`
      CREATE TABLE events_by_id (organization, event_id, instant, id, PRIMARY KEY (organization, event_id)) WITHOUT ROWID;
      INSERT INTO events_by_id ${this.#all(EVENTS, "organization, record -> 'id', instant, id")}`);
    this.#database.exec(`
      CREATE TABLE events_of_sessions AS ${this.#all(SESSIONS, 'organization, event_id')}`);
    this.#reject(SESSIONS, fileOf(SESSIONS), {
      field: 'eventId',
      value: "event_id ->> '$'",
      reason: 'must be an event of the organization',
      rows: `
        SELECT line, '' AS addition, ${this.#isBad(EVENTS)} AS follows
        FROM (${this.#allLines(SESSIONS, 'line, organization, event_id')})
        WHERE (organization, event_id) NOT IN (SELECT organization, event_id FROM events_by_id)`,
    });
    this.#rejectRepeatedIds(SESSIONS, fileOf(SESSIONS));
    this.#database.exec(`
      CREATE TABLE sessions_by_event (
        organization, event_id, instant, id, start_at, PRIMARY KEY (organization, event_id, instant, id)
      ) WITHOUT ROWID;
      INSERT INTO sessions_by_event ${this.#all(SESSIONS, "organization, event_id, instant, id, record -> 'startAt'")}`);
    this.#reject(EVENTS, fileOf(EVENTS), {
      field: EVENTS.resource.id,
      value: `record ->> '${EVENTS.resource.id}'`,
      reason: 'must have a session',
      rows: `
        SELECT line, '' AS addition, ${this.#isBad(SESSIONS)}
          OR (organization, event_id) IN (SELECT organization, event_id FROM events_of_sessions) AS follows
        FROM (${this.#allLines(EVENTS, "line, organization, record -> 'id' AS event_id")})
        WHERE (organization, event_id) NOT IN (SELECT organization, event_id FROM sessions_by_event)`,
    });
    for (const layout of [TICKETS, ORDERS, OFFERS]) this.#rejectRepeatedIds(layout, fileOf(layout));
  }

  /** Iterates over a collection, by organization and in list order. */
  *records(layout: CollectionLayout): Generator<StagedRecord, undefined> {
    const rows = this.#database.prepare<[], SelectedRow>(this.#selectInOrder(layout)).raw();
    for (const [organization, beginsRun, json, ...values] of rows.iterate())
      yield { organization, beginsRun: beginsRun === 1, json, values };
    return undefined;
  }

  /** Removes the deletions of records that are staged. */
  removeStagedDeletions(): void {
    for (const layout of COLLECTIONS)
      this.deletions.removeExisting(layout, this.#all(layout, 'organization, id'));
  }

  /** Returns the stored form of the record on a line. */
  recordAt(layout: CollectionLayout, line: number): JsonObject {
    const query = `SELECT record FROM (${this.#all(layout, 'line, record')}) WHERE line = ?`;
    const json = this.#database.prepare<[number], string>(query).pluck().get(line) ?? '';
    const record = parseObject(json);
    if (record === undefined) throw new RangeError(`no record on line ${line} of ${layout.name}`);
    return record;
  }

  close(): void {
    this.#database.close();
  }

  #rejectRepeatedIds(layout: CollectionLayout, file: string): void {
    const { id } = layout.resource;
    this.#reject(layout, file, {
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
  #reject(layout: CollectionLayout, file: string, { field, reason, value, rows }: Contradiction): void {
    const text = [
      `'{"organizationId":' || json_quote(organization_id)`,
      ...(IMPORT_ONLY.get(layout) ?? []),
      'substr(record, 2)',
    ].join(" || ',' || ");
    this.#database.exec(`CREATE TEMP TABLE rejected AS ${rows}`);
    const found = (addition: string) => `'"' || substr(${value}, 1, 40) || '"' || ${addition} AS found`;
    for (const staging of this.#files) {
      this.rejections.addToBad(
        file,
        { field, reason },
        `SELECT line, ${found('addition')} FROM rejected JOIN ${staging}.bad_${layout.name} USING (line) WHERE NOT follows`,
      );
      const table = `${staging}.${layout.name}`;
      const select = (addition: string, condition: string) =>
        `SELECT line, ${found(addition)}, follows, ${text} AS text
         FROM rejected JOIN ${table} USING (line) JOIN organizations ON position = organization WHERE ${condition}`;
      this.rejections.addSelected(file, { field, reason }, select('addition', IMPORTED));
      if (this.#base !== undefined) {
        const place = `' in ${layout.name} ' || (record -> '${layout.resource.id}')`;
        this.rejections.addSelected(this.#base, { field, reason }, select(place, OF_BASE));
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

  /** Returns SQL that selects from all records of a collection, or from those that meet a condition. */
  #all({ name }: CollectionLayout, columns: string, condition = 'TRUE'): string {
    return this.#files
      .map((file) => `SELECT ${columns} FROM ${file}.${name} WHERE ${condition}`)
      .join(' UNION ALL ');
  }

  #selectInOrder(layout: CollectionLayout): string {
    const { orderedBy, columns } = layout;
    const names = columns.map(({ column }) => column);
    const all = this.#all(
      layout,
      ['organization', 'begins_run', 'record', 'instant', 'id', ...names].join(', '),
    );
    const listOrder = `instant ${orderedBy.descending ? 'DESC' : 'ASC'}, id`;
    if (layout === SESSIONS) {
      return `
        SELECT organization, begins_run, record, ${names.join(', ')}
        FROM (${all}) AS session JOIN events_by_id AS event USING (organization, event_id)
        ORDER BY organization, event.instant DESC, event.id, session.instant, session.id`;
    }
    const record = layout === EVENTS ? EVENT_WITH_SUMMARY : 'record';
    return `
      SELECT organization, begins_run, ${record}, ${names.join(', ')}
      FROM (${all}) AS listed
      ORDER BY organization, ${listOrder}`;
  }
}

interface Contradiction {
  readonly field: string;
  readonly reason: string;
  /** SQL expression of the field's value. */
  readonly value: string;
  /** SQL that selects `line`, `addition` to the value found, and whether the rejection `follows` from another one. */
  readonly rows: string;
}

type SelectedRow = readonly [organization: number, beginsRun: number, json: string, ...values: string[]];

/** SQL expressions of the fields that an import line has and its stored record lacks. */
const IMPORT_ONLY: ReadonlyMap<CollectionLayout, readonly string[]> = new Map([
  [SESSIONS, [`'"eventId":' || event_id`]],
  [OFFERS, [`'"heldByEventIds":' || event_ids`]],
]);

const startOf = (direction: 'ASC' | 'DESC'): string => `(
  SELECT start_at FROM sessions_by_event AS session
  WHERE session.organization = listed.organization AND session.event_id = listed.record -> 'id'
  ORDER BY session.instant ${direction}, session.id ${direction} LIMIT 1
)`;

/** SQL expression of an event with its session summary appended. Ids are compared as `JSON.stringify` wrote them. */
const EVENT_WITH_SUMMARY = `
  substr(record, 1, length(record) - 1)
  || ',"sessionCount":' || (
    SELECT count(*) FROM sessions_by_event AS session
    WHERE session.organization = listed.organization AND session.event_id = listed.record -> 'id'
  )
  || ',"firstSessionStartAt":' || ${startOf('ASC')}
  || ',"lastSessionStartAt":' || ${startOf('DESC')}
  || '}'`;

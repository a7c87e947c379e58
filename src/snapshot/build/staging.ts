import Database from 'better-sqlite3';
import { type CollectionLayout, EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../format/layout.ts';
import { Rejections } from './rejections.ts';

/** Memory for pages of a staging file, and for each sort before it continues in files. More is no faster. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Threads that help with a sort. */
const SORT_THREADS = 2;

/** A record in list order, ready to be written. */
export interface StagedRecord {
  /** Position of the organization in the order of the ids. */
  readonly organization: number;
  /** Whether the record begins a run by its id. */
  readonly beginsRun: boolean;
  /** The values of the columns as JSON, in the order of the layout. */
  readonly values: readonly string[];
  readonly json: string;
}

/**
 * The records of an import between reading and writing. SQLite checks them against each other, and sorts them, over the
 * staging files of all threads.
 */
export class Staging {
  readonly rejections: Rejections;
  readonly #database: Database.Database;
  /** The names by which the staging files are attached. */
  readonly #files: string[] = [];

  /**
   * @param path a file that is not there yet, for all but the records
   * @param keepsText whether the text of bad lines is wanted
   */
  constructor(path: string, keepsText: boolean) {
    this.#database = new Database(path);
    this.#database.pragma('journal_mode = OFF');
    this.#database.pragma('synchronous = OFF');
    this.#database.pragma(`threads = ${SORT_THREADS}`);
    this.rejections = new Rejections(this.#database, keepsText);
  }

  /**
   * Takes the records of some staging files.
   * @param organizationIds in their order
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
   * Rejects records that contradict others: ids that come again, sessions without their event, events without a session.
   * A record that is rejected contradicts no other.
   * @param fileOf returns the import file of a collection
   */
  rejectContradictions(fileOf: (layout: CollectionLayout) => string): void {
    this.#rejectRepeatedIds(EVENTS, fileOf(EVENTS));
    this.#database.exec(`
      CREATE TABLE events_by_id (organization, event_id, instant, id, PRIMARY KEY (organization, event_id)) WITHOUT ROWID;
      INSERT INTO events_by_id ${this.#all(EVENTS, "organization, record -> 'id', instant, id")}`);
    this.#reject(SESSIONS, fileOf(SESSIONS), {
      field: 'eventId',
      value: "event_id ->> '$'",
      rows: `
        SELECT line, 'is not an event of the organization' AS problem
        FROM (${this.#all(SESSIONS, 'line, organization, event_id')})
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
      rows: `
        SELECT line, 'has no session in the import' AS problem
        FROM (${this.#all(EVENTS, "line, organization, record -> 'id' AS event_id")})
        WHERE (organization, event_id) NOT IN (SELECT organization, event_id FROM sessions_by_event)`,
    });
    for (const layout of [TICKETS, ORDERS, OFFERS]) this.#rejectRepeatedIds(layout, fileOf(layout));
  }

  /** Iterates over the records of a collection in list order, organization after organization. */
  *records(layout: CollectionLayout): Generator<StagedRecord> {
    const rows = this.#database.prepare<[], SelectedRow>(this.#selectInOrder(layout)).raw();
    for (const [organization, beginsRun, json, ...values] of rows.iterate())
      yield { organization, beginsRun: beginsRun === 1, json, values };
  }

  close(): void {
    this.#database.close();
  }

  #rejectRepeatedIds(layout: CollectionLayout, file: string): void {
    const { id } = layout.resource;
    this.#reject(layout, file, {
      field: id,
      value: `record ->> '${id}'`,
      rows: `
        SELECT line, 'is there already, on line ' || first AS problem
        FROM (
          SELECT line, first_value(line) OVER (PARTITION BY organization, id ORDER BY line) AS first
          FROM (${this.#all(layout, 'line, organization, id')})
        )
        WHERE line > first`,
    });
  }

  /** Moves records to the rejections. */
  #reject(layout: CollectionLayout, file: string, { field, value, rows }: Contradiction): void {
    const text = [
      `'{"organizationId":' || json_quote(organization_id)`,
      ...(ASIDE.get(layout) ?? []),
      'substr(record, 2)',
    ].join(" || ',' || ");
    this.#database.exec(`CREATE TEMP TABLE rejected AS ${rows}`);
    for (const staging of this.#files) {
      const table = `${staging}.${layout.name}`;
      this.rejections.addSelected(
        file,
        field,
        `SELECT line, '"' || (${value}) || '" ' || problem AS reason, ${text} AS text
         FROM rejected JOIN ${table} USING (line) JOIN organizations ON position = organization`,
      );
      this.#database.exec(`DELETE FROM ${table} WHERE line IN (SELECT line FROM rejected)`);
    }
    this.#database.exec('DROP TABLE rejected');
  }

  /** Returns SQL for all records of a collection. */
  #all({ name }: CollectionLayout, columns: string): string {
    return this.#files.map((file) => `SELECT ${columns} FROM ${file}.${name}`).join(' UNION ALL ');
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
    const record = layout === EVENTS ? SUMMED_UP_EVENT : 'record';
    return `
      SELECT organization, begins_run, ${record}, ${names.join(', ')}
      FROM (${all}) AS listed
      ORDER BY organization, ${listOrder}`;
  }
}

/** Records that contradict others. */
interface Contradiction {
  readonly field: string;
  /** SQL for the value of the field. */
  readonly value: string;
  /** SQL that selects `line` and `problem`, which follows the value in the reason. */
  readonly rows: string;
}

type SelectedRow = readonly [organization: number, beginsRun: number, json: string, ...values: string[]];

/** SQL for the fields of an import line that are not in its record. */
const ASIDE: ReadonlyMap<CollectionLayout, readonly string[]> = new Map([
  [SESSIONS, [`'"eventId":' || event_id`]],
  [OFFERS, [`'"heldByEventIds":' || event_ids`]],
]);

const startOf = (direction: 'ASC' | 'DESC'): string => `(
  SELECT start_at FROM sessions_by_event AS session
  WHERE session.organization = listed.organization AND session.event_id = listed.record -> 'id'
  ORDER BY session.instant ${direction}, session.id ${direction} LIMIT 1
)`;

/**
 * SQL for the record of an event with the summary of its sessions at its end. Ids are compared as JSON, which
 * JSON.stringify wrote in both.
 */
const SUMMED_UP_EVENT = `
  substr(record, 1, length(record) - 1)
  || ',"sessionCount":' || (
    SELECT count(*) FROM sessions_by_event AS session
    WHERE session.organization = listed.organization AND session.event_id = listed.record -> 'id'
  )
  || ',"firstSessionStartAt":' || ${startOf('ASC')}
  || ',"lastSessionStartAt":' || ${startOf('DESC')}
  || '}'`;

import type Database from 'better-sqlite3';
import { type CollectionLayout, COLLECTIONS, EVENTS, SESSIONS } from '../../format/layout.ts';
import { warningsOf } from './warnings.ts';
import type { Rule, Warning } from '../import/rules.ts';
import type { HeldBack, Rejections } from './rejections.ts';
import { ANYWHERE, StagedIds } from './staged-ids.ts';
import type { ColumnValue } from '../import/record-reader.ts';
import { eventOf, idOf, selectAll, type StagedRecord, StagingTables } from './staging-file.ts';

const SORT_THREADS = 2;

/** Collections whose records are checked and derived together, those of a base included. */
export const LINKED: readonly CollectionLayout[] = [EVENTS, SESSIONS];

/** The organizations of a new snapshot. */
export interface ImportOrganizations {
  /** Names by id, in the order of the ids. */
  readonly names: ReadonlyMap<string, string>;
  /** Those whose earlier records stay unless the import names them. */
  readonly staying: ReadonlySet<string>;
  /** Those of which the import has nothing, so that all their earlier records stay. */
  readonly held: ReadonlyMap<string, HeldBack>;
  /** Those with a line. */
  readonly listed: ReadonlySet<string>;
}

/** The staged records of all threads, and of a base, which SQLite cross-checks and sorts. */
export class Staging {
  readonly rejections: Rejections;
  readonly ids: StagedIds;
  readonly tables: StagingTables;
  readonly database: Database.Database;
  /** Schema names of the staging files: of this one, and of those that are attached. */
  readonly files = ['main'];
  /** Names of the organizations by id, in ascending order, which is that of the positions. */
  readonly names: ReadonlyMap<string, string>;
  readonly organizationIds: readonly string[];
  /** Whether the earlier records of an organization stay unless the import names them, by position. */
  readonly staying: readonly boolean[];
  #isLinked: (position: number) => boolean = () => true;

  /**
   * Attaches the files of the threads. Creates views of each table over all files, such as `all_tickets`.
   * @param database that of the rejections, for everything but the records of the import
   * @param positions those of the organizations by id
   */
  constructor(
    database: Database.Database,
    rejections: Rejections,
    { names, held, staying }: ImportOrganizations,
    positions: ReadonlyMap<string, number>,
    files: readonly string[],
  ) {
    this.database = database;
    this.rejections = rejections;
    this.names = names;
    this.organizationIds = [...names.keys()];
    this.staying = this.organizationIds.map((id) => staying.has(id));
    database.pragma(`threads = ${SORT_THREADS}`);
    this.ids = new StagedIds(database, (position) => held.has(this.organizationIds[position]));
    this.tables = new StagingTables(database);
    for (const [i, file] of files.entries()) {
      const name = `staging_${i}`;
      database.prepare(`ATTACH ? AS ${name}`).run(file);
      this.files.push(name);
    }
    for (const { name } of COLLECTIONS)
      database.exec(`CREATE TEMP VIEW all_${name} AS ${selectAll(this.files, name)}`);
    database.function('organization_id', (position: number) => this.organizationIds[position]);
    database.function('position_of', (id: string) => positions.get(id) ?? null);
  }

  /**
   * Finds the organizations whose events and sessions are staged, those of a base included: those of which the build names
   * some, or earlier changes have sessions, which may have moved with their events. The views of the known lines exist, and
   * the ids of the deletions.
   */
  findLinked(hasChangedSessions: (organizationId: string) => boolean): void {
    const named = this.database.prepare<[], number | null>(
      LINKED.map(
        ({ name }) => `SELECT organization FROM known_${name}
          UNION SELECT organization FROM ids WHERE collection = '${name}'`,
      ).join(' UNION '),
    );
    const positions = new Set(named.pluck().all());
    this.#isLinked = (position) =>
      positions.has(position) ||
      positions.has(ANYWHERE) ||
      hasChangedSessions(this.organizationIds[position]);
  }

  /** Returns whether the earlier records of an organization stay unless the build names them, and are not staged. */
  isMerged({ name }: CollectionLayout, position: number): boolean {
    if (!this.staying[position]) return false;
    return !LINKED.some((linked) => linked.name === name) || !this.#isLinked(position);
  }

  /** Iterates over the staged records of a collection, by organization and in list order. */
  *records(layout: CollectionLayout): Generator<StagedRecord, undefined> {
    const rows = this.database.prepare<[], SelectedRow>(this.#selectInOrder(layout)).raw().safeIntegers();
    for (const [organization, id, json, ...values] of rows.iterate())
      yield { organization: Number(organization), id: idOf(id), json, values };
    return undefined;
  }

  /** Derives the warnings about the records of the import: by all rules only if they are all records. */
  warnings(isChecked?: (rule: Rule) => boolean): Warning[] {
    const qrCodes = 'SELECT organization, json_quote(qr_code) AS value, line AS place, id FROM all_tickets';
    return warningsOf(this.database, this.files.slice(1), this.organizationIds, qrCodes, isChecked);
  }

  #selectInOrder(layout: CollectionLayout): string {
    const { orderedBy, columns } = layout;
    const names = columns.map(({ column }) => column).join(', ');
    if (layout === SESSIONS) {
      return `
        SELECT session.organization, session.id, record, ${names}
        FROM all_sessions AS session CROSS JOIN ids AS event
          ON event.collection = 'events' AND event.organization = session.organization AND event.id = ${eventOf(layout)}
        ORDER BY session.organization, event.instant DESC, event.id, session.instant, session.id`;
    }
    return `
      SELECT organization, id, ${layout === EVENTS ? EVENT_WITH_SUMMARY : 'record'}, ${names}
      FROM all_${layout.name} AS listed
      ORDER BY organization, instant ${orderedBy.descending ? 'DESC' : 'ASC'}, id`;
  }
}

type SelectedRow = readonly [organization: bigint, id: Buffer, json: string, ...values: ColumnValue[]];

const OF_THE_EVENT = `
  FROM sessions_by_event AS session WHERE session.organization = listed.organization AND session.event = listed.id`;
const startOf = (order: 'ASC' | 'DESC') =>
  `(SELECT start_at ${OF_THE_EVENT} ORDER BY session.instant ${order}, session.id ${order} LIMIT 1)`;
/** The first of the fields of an event that derive from its sessions. */
const SUMMARY = ',"sessionCount":';

/** SQL expression of an event with its session summary appended. */
const EVENT_WITH_SUMMARY = `
  substr(record, 1, length(record) - 1) || '${SUMMARY}' || (SELECT count(*) ${OF_THE_EVENT})
  || ',"firstSessionStartAt":' || ${startOf('ASC')} || ',"lastSessionStartAt":' || ${startOf('DESC')} || '}'`;

/** Returns a stored event without its session summary. A quote in a text of an event follows a backslash. */
export function withoutSummary(event: string): string {
  return `${event.slice(0, event.lastIndexOf(SUMMARY))}}`;
}

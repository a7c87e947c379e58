import Database from 'better-sqlite3';
import { type JsonObject, parseObject } from '../../format/json-values.ts';
import { type CollectionLayout, COLLECTIONS, EVENTS, SESSIONS } from '../../format/layout.ts';
import { IMPORTED_ANEW } from '../merge/earlier-snapshot.ts';
import { ChangedIds } from './changed-ids.ts';
import type { ImportFolder } from '../import/import-files.ts';
import { Contradictions } from './contradictions.ts';
import { Deletions } from './deletions.ts';
import { Rejections } from './rejections.ts';
import type { StagedRecord } from '../merge/snapshot-writer.ts';
import { IMPORTED, OF_BASE, selectAll } from './staging-file.ts';

/** Cache of each staging file, and of each sort before it spills to temporary files. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Auxiliary threads of a sort. */
const SORT_THREADS = 2;

/** The imported records in the staging files of all threads, which SQLite cross-checks and sorts. */
export class Staging {
  readonly rejections: Rejections;
  readonly changes: ChangedIds;
  readonly deletions: Deletions;
  readonly #database: Database.Database;
  /** Schema names of the attached staging files. */
  readonly #files: string[] = [];

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

  /** Collects the ids that the import changes in a base, and removes their events and sessions of the base. */
  applyChanges(): void {
    for (const layout of COLLECTIONS)
      this.changes.addRecords(layout, selectAll(this.#files, layout, 'organization, id', IMPORTED));
    this.changes.finish();
    for (const layout of IMPORTED_ANEW)
      for (const file of this.#files) this.changes.removeFrom(layout, `${file}.${layout.name}`, OF_BASE);
  }

  /**
   * Rejects the records that contradict others.
   * @param base path of the base; undefined without one
   */
  rejectContradictions(folder: ImportFolder, base: string | undefined): void {
    new Contradictions(this.#database, this.#files, this.rejections, base).reject(folder);
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
      this.deletions.removeExisting(layout, selectAll(this.#files, layout, 'organization, id'));
  }

  /** Returns the stored form of the record on a line. */
  recordAt(layout: CollectionLayout, line: number): JsonObject {
    const query = `SELECT record FROM (${selectAll(this.#files, layout, 'line, record')}) WHERE line = ?`;
    const json = this.#database.prepare<[number], string>(query).pluck().get(line) ?? '';
    const record = parseObject(json);
    if (record === undefined) throw new RangeError(`no record on line ${line} of ${layout.name}`);
    return record;
  }

  close(): void {
    this.#database.close();
  }

  #selectInOrder(layout: CollectionLayout): string {
    const { orderedBy, columns } = layout;
    const names = columns.map(({ column }) => column);
    const all = selectAll(
      this.#files,
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

type SelectedRow = readonly [organization: number, beginsRun: number, json: string, ...values: string[]];

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

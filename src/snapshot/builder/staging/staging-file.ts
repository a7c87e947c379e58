import Database from 'better-sqlite3';
import {
  type CollectionLayout,
  COLLECTIONS,
  type ColumnLayout,
  EVENTS,
  type ImportedRecord,
} from '../../format/layout.ts';
import { beginsRun } from '../../format/schema.ts';
import { type JsonObject, textIn } from '../../format/json-values.ts';
import type { ReadRecord } from '../import/record-reader.ts';

/** Larger than SQLite's default of 4,096 bytes: a record takes about a kilobyte. */
const PAGE_BYTES = 16_384;
/** A small cache suffices, since rows are only appended. */
const CACHE_BYTES = 4 * 1024 * 1024;

/** SQL conditions of staged records: lines of the import files, and records of the base (`LineBlock`). */
export const IMPORTED = 'line > 0';
export const OF_BASE = 'line < 0';

/** The temporary SQLite file of an import thread, with a table for each collection. */
export class StagingFile {
  readonly #database: Database.Database;
  readonly #inserts: ReadonlyMap<CollectionLayout, Database.Statement>;
  readonly #badInserts: ReadonlyMap<CollectionLayout, Database.Statement>;

  /** @param path a file that does not exist yet */
  constructor(path: string) {
    this.#database = new Database(path);
    this.#database.pragma(`page_size = ${PAGE_BYTES}`);
    this.#database.pragma(`cache_size = -${CACHE_BYTES / 1024}`);
    this.#database.pragma('journal_mode = OFF');
    this.#database.pragma('synchronous = OFF');
    this.#database.pragma('locking_mode = EXCLUSIVE');
    this.#database.exec('BEGIN');
    this.#inserts = new Map(COLLECTIONS.map((layout) => [layout, this.#createTable(layout)]));
    this.#badInserts = new Map(COLLECTIONS.map((layout) => [layout, this.#createBadTable(layout)]));
  }

  #createTable({ name, columns }: CollectionLayout): Database.Statement {
    const declarations = [
      'line INTEGER PRIMARY KEY', // of the import file
      'organization INTEGER NOT NULL', // position in the order of the ids
      'instant INTEGER NOT NULL', // the timestamp that orders the list
      'id TEXT NOT NULL', // as a sort key
      'begins_run INTEGER NOT NULL',
      ...columns.map(({ column }) => `${column} TEXT NOT NULL`), // the value as JSON
      'record TEXT NOT NULL',
    ];
    this.#database.exec(`CREATE TABLE ${name} (${declarations.join(', ')}) STRICT`);
    return this.#database.prepare(`INSERT INTO ${name} VALUES (${declarations.map(() => '?').join(', ')})`);
  }

  /** @param line number of the record's line in the import file */
  add(layout: CollectionLayout, line: number, record: ReadRecord): void {
    this.#inserts
      .get(layout)
      ?.run(
        line,
        record.organization,
        record.orderedBy,
        sortKey(record.id),
        beginsRun(record.id) ? 1 : 0,
        ...layout.columns.map((column) => columnValue(column, record)),
        record.json,
      );
  }

  /** Creates the table of bad lines and their known values, which are also checked against other lines. */
  #createBadTable({ name }: CollectionLayout): Database.Statement {
    this.#database.exec(`
      CREATE TABLE bad_${name} (
        line INTEGER PRIMARY KEY, organization INTEGER, id TEXT, event_id TEXT, record TEXT NOT NULL
      ) STRICT`);
    return this.#database.prepare(`INSERT INTO bad_${name} VALUES (?, ?, ?, ?, ?)`);
  }

  /** @param imported undefined when the line is not an object */
  addBad(
    layout: CollectionLayout,
    line: number,
    organization: number | undefined,
    imported: JsonObject = {},
  ): void {
    const idField = layout.resource.id;
    const id = textIn(imported[idField]);
    const eventId = textIn(imported[layout === EVENTS ? idField : 'eventId']);
    this.#badInserts
      .get(layout)
      ?.run(
        line,
        organization,
        id === '' ? undefined : sortKey(id),
        eventId === '' ? undefined : JSON.stringify(eventId),
        JSON.stringify({ [idField]: id }),
      );
  }

  /** Completes and closes the file. */
  finish(): void {
    this.#database.exec('COMMIT');
    this.close();
  }

  close(): void {
    this.#database.close();
  }
}

/**
 * Returns SQL that selects from all records of a collection, or from those that meet a condition.
 * @param files schema names of the attached staging files
 */
export function selectAll(
  files: readonly string[],
  { name }: CollectionLayout,
  columns: string,
  condition = 'TRUE',
): string {
  return files.map((file) => `SELECT ${columns} FROM ${file}.${name} WHERE ${condition}`).join(' UNION ALL ');
}

/** Returns a record's element of the JSON array that a run stores in the column. */
export function columnValue(column: ColumnLayout, record: ImportedRecord): string {
  switch (column.holds) {
    case 'text': {
      const text = column.of(record);
      return JSON.stringify(text.isWellFormed() ? text : '');
    }
    case 'instant':
      return String(column.of(record));
    case 'list': {
      // A URL cannot contain a lone surrogate.
      const texts = column.of(record).filter((text) => text.isWellFormed());
      return JSON.stringify([...new Set(texts)]);
    }
  }
}

/**
 * Returns a sort key for an id. Its UTF-8 order, which SQLite uses, is the id's UTF-16 order.
 *
 * The two orders differ for characters beyond U+FFFF: their surrogates are below U+E000, but their UTF-8 is above all
 * others. So each surrogate maps to a separate character, and the code units above are shifted:
 *
 *     D800 … DFFF  →  U+E000  … U+E7FF
 *     E000 … FFFF  →  U+10000 … U+11FFF
 */
export function sortKey(id: string): string {
  return id.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCodePoint(code + (code < 0xe000 ? 0x800 : 0x2000));
  });
}

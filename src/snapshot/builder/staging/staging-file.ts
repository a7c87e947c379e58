import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import { byCollection, type CollectionLayout, SESSIONS } from '../../format/layout.ts';
import type { ReadRecord } from '../import/record-reader.ts';

/** Whether a staged record is a line of the import or a record of the base. */
export type Origin = 'import' | 'base';

export type StagedRecord = Pick<ReadRecord, 'organization' | 'id' | 'values' | 'json'>;

export class StagingTables {
  readonly #inserts: Readonly<Record<CollectionName, Database.Statement>>;

  constructor(database: Database.Database) {
    this.#inserts = byCollection(({ name, columns }) => {
      const declarations = [
        'origin TEXT NOT NULL',
        'line INTEGER PRIMARY KEY',
        'organization INTEGER NOT NULL',
        'instant INTEGER NOT NULL',
        'id BLOB NOT NULL', // as a sort key
        ...columns.map(
          ({ column, holds }) => `${column} ${holds === 'instant' ? 'INTEGER' : 'TEXT'} NOT NULL`,
        ),
        'record TEXT NOT NULL',
      ];
      database.exec(`CREATE TABLE ${name} (${declarations.join(', ')}) STRICT`);
      return database.prepare(`INSERT INTO ${name} VALUES (${declarations.map(() => '?').join(', ')})`);
    });
  }

  /** @param line number of the line in the import file; of the record in its collection of the base */
  add({ name }: CollectionLayout, origin: Origin, line: number, record: ReadRecord): void {
    const { organization, instant, id, values, json } = record;
    this.#inserts[name].run(origin, line, organization, instant, sortKey(id), ...values, json);
  }
}

/** Returns a sort key for an id: its UTF-16 code units, the high byte first. SQLite compares blobs byte by byte. */
export function sortKey(id: string): Buffer {
  return Buffer.from(id, 'utf16le').swap16();
}

export function idOf(key: Buffer): string {
  return key.swap16().toString('utf16le');
}

/** Returns the SQL expression of a record's event as a sort key: of a session, or of the event itself. */
export function eventOf(layout: CollectionLayout): string {
  return layout === SESSIONS ? 'sort_key(event_id)' : 'id';
}

/**
 * Returns SQL that selects from all tables of a name.
 * @param files schema names of the staging files
 */
export function selectAll(files: readonly string[], table: string): string {
  return files.map((schema) => `SELECT * FROM ${schema}.${table}`).join(' UNION ALL ');
}

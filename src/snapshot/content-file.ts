import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { CHUNK_ROWS, CONTENT_TABLES } from './format.ts';
import { StoredRows } from './stored-rows.ts';
import type { PagedFile } from './stored-rows.ts';
import { StoredValues } from './stored-values.ts';

const HEADER_BYTES = 100;

/** What reads a table: the same for all organizations, of which a file may hold thousands. */
interface StoredTable {
  readonly rows: StoredRows;
  readonly values: StoredValues;
}

/** A snapshot file whose tables are read from its pages. */
export class ContentFile {
  readonly #file: PagedFile;
  readonly #tables: ReadonlyMap<string, StoredTable>;

  /** @param database the same file, found to be a snapshot */
  constructor(database: Database.Database) {
    const descriptor = openSync(database.name, 'r');
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(descriptor, header, 0, HEADER_BYTES, 0);
    const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    const file = {
      descriptor,
      pageBytes,
      usableBytes: pageBytes - header[20],
      fileBytes: fstatSync(descriptor).size,
    };
    const root = database
      .prepare<[string], number>("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?")
      .pluck();
    this.#file = file;
    this.#tables = new Map(
      CONTENT_TABLES.map(({ name, columns }) => {
        const rows = new StoredRows(file, root.get(name) ?? 0);
        return [name, { rows, values: new StoredValues(name, columns, CHUNK_ROWS) }];
      }),
    );
  }

  tableOf(name: string): StoredTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new TypeError(`no table ${name}`);
    return table;
  }

  close(): void {
    closeSync(this.#file.descriptor);
  }
}

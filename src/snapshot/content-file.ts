import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { CONTENT_TABLES } from './format.ts';
import { StoredRows } from './stored-rows.ts';
import type { PagedFile } from './stored-rows.ts';

const HEADER_BYTES = 100;

/** A snapshot file whose tables are read from its pages. */
export class ContentFile {
  readonly #file: PagedFile;
  readonly #rows: ReadonlyMap<string, StoredRows>;

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
    this.#rows = new Map(CONTENT_TABLES.map(({ name }) => [name, new StoredRows(file, root.get(name) ?? 0)]));
  }

  rowsOf(table: string): StoredRows {
    const rows = this.#rows.get(table);
    if (rows === undefined) throw new TypeError(`no table ${table}`);
    return rows;
  }

  close(): void {
    closeSync(this.#file.descriptor);
  }
}

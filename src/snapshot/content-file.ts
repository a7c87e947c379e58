import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { CHUNK_ROWS, CONTENT_TABLES } from './format.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { asRefusal, openSnapshot } from './snapshot-file.ts';
import { StoredRows } from './stored-rows.ts';
import type { PagedFile } from './stored-rows.ts';
import { StoredValues } from './stored-values.ts';

const HEADER_BYTES = 100;

/** What differs when another file has taken the place of one, or when somebody wrote to it. */
const IDENTITY = ['dev', 'ino', 'size', 'mtimeNs'] as const;

/** What reads a table: the same for all organizations, of which a file may hold thousands. */
interface StoredTable {
  readonly rows: StoredRows;
  readonly values: StoredValues;
}

/** A snapshot file that is open: SQLite reads what it says of itself, and its tables are read from its pages. */
export class ContentFile {
  readonly database: Database.Database;
  readonly bytes: number;
  readonly #descriptor: number;
  readonly #tables: ReadonlyMap<string, StoredTable>;

  /** @throws RefusedSnapshot when it is no snapshot */
  constructor(path: string) {
    let database: Database.Database | undefined;
    let descriptor: number | undefined;
    try {
      const before = statSync(path, { bigint: true });
      database = openSnapshot(path);
      // SQLite does not tell which file it has: it is this one when the path led to it before and after.
      descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const status = fstatSync(descriptor, { bigint: true });
      if (IDENTITY.some((part) => status[part] !== before[part])) throw fileChanged();
      const file = pagedFile(descriptor);
      this.database = database;
      this.bytes = Number(status.size);
      this.#descriptor = descriptor;
      this.#tables = storedTables(database, file);
    } catch (error) {
      database?.close();
      if (descriptor !== undefined) closeSync(descriptor);
      throw asRefusal(error);
    }
  }

  tableOf(name: string): StoredTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new TypeError(`no table ${name}`);
    return table;
  }

  close(): void {
    this.database.close();
    closeSync(this.#descriptor);
  }
}

export function fileChanged(): RefusedSnapshot {
  return new RefusedSnapshot(
    'unfinished',
    'it was written to, or another file took its place, while it was read',
  );
}

/** https://www.sqlite.org/fileformat2.html#the_database_header */
function pagedFile(descriptor: number): PagedFile {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(descriptor, header, 0, HEADER_BYTES, 0);
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  return { descriptor, pageBytes, usableBytes: pageBytes - header[20] };
}

function storedTables(database: Database.Database, file: PagedFile): ReadonlyMap<string, StoredTable> {
  const root = database
    .prepare<[string], number>("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .pluck();
  return new Map(
    CONTENT_TABLES.map((table) => {
      const rows = new StoredRows(file, root.get(table.name) ?? 0);
      return [table.name, { rows, values: new StoredValues(table, CHUNK_ROWS) }];
    }),
  );
}

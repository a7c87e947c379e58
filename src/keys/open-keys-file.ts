import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';

/** A file that is not a keys file, or not a whole one. The message says why, for a person to act on, and does not name the file. */
export class CorruptKeysFile extends Error {
  override readonly name = 'CorruptKeysFile';
}

/** Another process was writing to the keys file for longer than was waited for. What it holds is not in doubt: try again. */
export class KeysFileBusy extends Error {
  override readonly name = 'KeysFileBusy';
  constructor() {
    super('another process is writing to it; try again');
  }
}

/** What makes a file a keys file of this version: all of it is read from `data/keys.sql`. */

const reference = new Database(':memory:');
reference.exec(readFileSync(new URL('../../data/keys.sql', import.meta.url), 'utf8'));

export const APPLICATION_ID = integerPragma(reference, 'application_id');
export const FORMAT_VERSION = integerPragma(reference, 'user_version');
export const SCHEMA = schemaOf(reference);
/** A keys file without a key, byte by byte. */
export const EMPTY_KEYS_FILE = reference.serialize();

reference.close();

export function integerPragma(database: Database.Database, name: string): number {
  return Number(database.pragma(name, { simple: true }));
}

/** The statements that made a database, as one text, but for comments and white space: their words may change. */
export function schemaOf(database: Database.Database): string {
  return database
    .prepare<[], string>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name')
    .pluck()
    .all()
    .join(';\n')
    .replace(/--.*$/gm, '')
    .replace(/\s+/g, ' ');
}

interface Access {
  /** Leaves the file and its folder exactly as they are. */
  readonly readonly: boolean;
  /** How long to wait, at each step and on this thread, for another process to finish writing. */
  readonly patienceMs: number;
}

/**
 * Opens a keys file that is there, lets `use` work on it, and closes it. It is used only after all of it was found
 * to be in order.
 * @throws CorruptKeysFile, KeysFileBusy, or the system's error when there is no such file or it may not be read
 */
export function withKeysFile<T>(path: string, access: Access, use: (database: Database.Database) => T): T {
  checkHeader(path);
  const options = { readonly: access.readonly, fileMustExist: true, timeout: access.patienceMs };
  try {
    const database = new Database(path, options);
    try {
      database.pragma('trusted_schema = OFF');
      database.pragma('cell_size_check = ON');
      checkContent(database);
      return use(database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw asKeysFileError(error);
  }
}

/** Offsets and values of the database header: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100;
const WRITE_VERSION_OFFSET = 18;
const WAL = 2;

/** What SQLite lets pass, or cannot look at without a trace: an empty file is a valid database, and one in WAL mode gets files beside it. */
function checkHeader(path: string): void {
  if (!statSync(path).isFile()) throw new CorruptKeysFile('it is not a regular file');
  const file = openSync(path, 'r');
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    if (fstatSync(file).size === 0) throw new CorruptKeysFile('the file is empty');
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (header[WRITE_VERSION_OFFSET] === WAL) {
    throw new CorruptKeysFile(
      'it is in WAL mode; a keys file is in rollback-journal mode (PRAGMA journal_mode = DELETE)',
    );
  }
}

function checkContent(database: Database.Database): void {
  if (integerPragma(database, 'application_id') !== APPLICATION_ID) {
    throw new CorruptKeysFile(
      'it is a database of another kind: its application_id is not that of a keys file',
    );
  }
  const version = integerPragma(database, 'user_version');
  if (version !== FORMAT_VERSION) {
    throw new CorruptKeysFile(
      `its version (user_version) is ${version}, this Foyer knows version ${FORMAT_VERSION}` +
        (version > FORMAT_VERSION ? '; use a newer Foyer' : ''),
    );
  }
  if (schemaOf(database) !== SCHEMA) {
    throw new CorruptKeysFile('its tables are not those of a keys file (data/keys.sql)');
  }
  const finding = database.pragma('integrity_check(1)', { simple: true });
  if (finding !== 'ok') throw new CorruptKeysFile(`it is damaged: ${String(finding)}`);
}

/** What SQLite says of a file's state is told as ours; anything else, such as a full disk, stays what it is. */
function asKeysFileError(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (error.code.startsWith('SQLITE_BUSY')) return new KeysFileBusy();
  if (error.code === 'SQLITE_NOTADB') return new CorruptKeysFile('it is not an SQLite database');
  if (error.code.startsWith('SQLITE_CORRUPT')) return new CorruptKeysFile(`it is damaged: ${error.message}`);
  if (error.code === 'SQLITE_READONLY_ROLLBACK') {
    return new CorruptKeysFile('a change to it was cut short; `npm run keys -- list` takes that back');
  }
  return error;
}

import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';

/** A file that is not a keys file, or is damaged. The message states the reason, without the file name. */
export class CorruptKeysFile extends Error {
  override readonly name = 'CorruptKeysFile';
}

/** A keys file that another process was writing for longer than the busy timeout. A later attempt may succeed. */
export class KeysFileBusy extends Error {
  override readonly name = 'KeysFileBusy';
}

const reference = new Database(':memory:');
reference.exec(readFileSync(new URL('../../data/keys.sql', import.meta.url), 'utf8'));

const APPLICATION_ID = integerPragma(reference, 'application_id');
const VERSION = integerPragma(reference, 'user_version');
const SCHEMA = schemaOf(reference);
export const EMPTY_KEYS_FILE = reference.serialize();
const COLUMNS = reference.prepare<[], string>("SELECT name FROM pragma_table_info('keys')").pluck().all();
/** Limit for each value. The texts of the command are shorter. */
const MAX_BYTES = 1024;

reference.close();

function integerPragma(database: Database.Database, name: string): number {
  return Number(database.pragma(name, { simple: true }));
}

/** Returns the statements of a schema as one text, without comments and with single spaces. */
function schemaOf(database: Database.Database): string {
  return database
    .prepare<[], string>(
      'SELECT substr(sql, 1, 10000) FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name LIMIT 10',
    )
    .pluck()
    .all()
    .join(';\n')
    .replace(/--.*/g, '')
    .replace(/\s+/g, ' ');
}

/** `read` leaves the file and its folder unchanged. `recover` rolls back an interrupted write, and so does `write`. */
type Mode = 'read' | 'recover' | 'write';

/** SQLite's busy timeout, which blocks this thread. A writer holds the file for milliseconds. */
const TIMEOUT_MS: Readonly<Record<Mode, number>> = { read: 20, recover: 5000, write: 5000 };

/**
 * Opens an existing keys file, checks it, calls `use`, and closes the file. All of it is one transaction.
 * @param use sees the tables of `data/keys.sql`
 * @throws CorruptKeysFile, KeysFileBusy, or the system's error when the file is missing or cannot be read
 */
export function withKeysFile<T>(path: string, mode: Mode, use: (database: Database.Database) => T): T {
  checkHeader(path);
  const options = { readonly: mode === 'read', fileMustExist: true, timeout: TIMEOUT_MS[mode] };
  try {
    const database = new Database(path, options);
    try {
      database.pragma('trusted_schema = OFF');
      database.pragma('cell_size_check = ON');
      const transaction = database.transaction(() => {
        checkContent(database);
        return use(database);
      });
      return mode === 'write' ? transaction.immediate() : transaction.deferred();
    } finally {
      database.close();
    }
  } catch (error) {
    throw asKeysFileError(error);
  }
}

/** Offset and value in the database header: https://www.sqlite.org/fileformat2.html#the_database_header */
const WRITE_VERSION_OFFSET = 18;
const WAL = 2;

/** Refuses empty files and files in WAL mode, which SQLite would open. */
function checkHeader(path: string): void {
  const status = statSync(path);
  if (!status.isFile()) throw new CorruptKeysFile('it is not a regular file');
  if (status.size === 0) throw new CorruptKeysFile('the file is empty');
  const file = openSync(path, 'r');
  const version = Buffer.alloc(1);
  try {
    readSync(file, version, 0, 1, WRITE_VERSION_OFFSET);
  } finally {
    closeSync(file);
  }
  if (version[0] === WAL) {
    throw new CorruptKeysFile(
      'it is in WAL mode; a keys file must be in rollback-journal mode (PRAGMA journal_mode = DELETE)',
    );
  }
}

/** Checks the format and the integrity of a keys file. */
function checkContent(database: Database.Database): void {
  const applicationId = integerPragma(database, 'application_id');
  if (applicationId !== APPLICATION_ID) {
    throw new CorruptKeysFile(
      `it is another application's database: its application_id is ${applicationId}, not ${APPLICATION_ID}`,
    );
  }
  const version = integerPragma(database, 'user_version');
  if (version !== VERSION || schemaOf(database) !== SCHEMA) {
    throw new CorruptKeysFile(
      `it is a keys file of another Foyer: its version (user_version) is ${version}, and this one reads version ` +
        `${VERSION} with the schema in data/keys.sql; move the file away, and create keys by \`npm run keys -- create\``,
    );
  }
  const finding = database.pragma('integrity_check(1)', { simple: true });
  if (finding !== 'ok') throw new CorruptKeysFile(`it is damaged: ${String(finding)}`);
  const isLong = COLUMNS.map((column) => `octet_length(${column}) > ${MAX_BYTES}`).join(' OR ');
  if (database.prepare(`SELECT 1 FROM keys WHERE ${isLong}`).get() !== undefined)
    throw new CorruptKeysFile(`a value has more than ${MAX_BYTES} bytes`);
}

/** Translates SQLite's errors about the state of a file. Others, such as a full disk, stay unchanged. */
function asKeysFileError(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (error.code.startsWith('SQLITE_BUSY'))
    return new KeysFileBusy('another process is writing to it; try again');
  if (error.code === 'SQLITE_NOTADB') return new CorruptKeysFile('it is not an SQLite database');
  if (error.code.startsWith('SQLITE_CORRUPT')) return new CorruptKeysFile(`it is damaged: ${error.message}`);
  if (error.code === 'SQLITE_READONLY_ROLLBACK') {
    return new CorruptKeysFile('a write to it was interrupted; `npm run keys -- list` rolls it back');
  }
  return error;
}

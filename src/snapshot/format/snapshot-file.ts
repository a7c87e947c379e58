import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import Database from 'better-sqlite3';
import { type RefusalReason, RefusedSnapshot } from './refused-snapshot.ts';
import { APPLICATION_ID, FORMAT_VERSION, SCHEMA_STATEMENTS, schemaStatements } from './schema.ts';

/** A snapshot file that is open for reading. */
export interface OpenSnapshot {
  readonly database: Database.Database;
  /** Size of the file. */
  readonly bytes: number;
}

/** Differs when another file has taken the place of one, or when it was written to. */
const IDENTITY = ['dev', 'ino', 'size', 'mtimeNs'] as const;

/**
 * Opens a snapshot file for reading, and checks its header and its schema.
 * @throws RefusedSnapshot
 */
export function openSnapshot(path: string): OpenSnapshot {
  let database: Database.Database | undefined;
  try {
    const before = statSync(path, { bigint: true });
    checkHeader(path);
    database = new Database(path, { readonly: true, fileMustExist: true });
    database.pragma('trusted_schema = OFF');
    database.pragma('cell_size_check = ON');
    checkSchema(database);
    // SQLite does not tell which file it opened. It is the one whose header was checked if the path did not change.
    const after = statSync(path, { bigint: true });
    if (IDENTITY.some((part) => after[part] !== before[part])) {
      throw new RefusedSnapshot(
        'unfinished',
        'it was written to, or another file took its place, while it was opened',
      );
    }
    return { database, bytes: Number(after.size) };
  } catch (error) {
    database?.close();
    throw asRefusal(error);
  }
}

/**
 * Makes a refusal of an error of SQLite or the system: it tells of the file, not of a fault in the program.
 * Returns any other error as it is.
 */
export function asRefusal(error: unknown): unknown {
  if (error instanceof Error && 'syscall' in error) {
    return new RefusedSnapshot('unreadable', `it cannot be read: ${error.message}`);
  }
  if (!(error instanceof Database.SqliteError)) return error;
  return new RefusedSnapshot(
    reasonOf(error),
    `SQLite cannot read it: ${error.message} (${error.code}); copy or build it again`,
  );
}

/** Result codes: https://www.sqlite.org/rescode.html. The extended ones begin with the name of the primary one. */
function reasonOf({ code }: { readonly code: string }): RefusalReason {
  if (/^SQLITE_(CANTOPEN|IOERR|PERM|AUTH)/.test(code)) return 'unreadable';
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return 'unfinished';
  return code === 'SQLITE_NOTADB' ? 'not-sqlite' : 'damaged';
}

const REBUILD = 'npm run snapshot -- build --input DIR --output FILE';

/** Offsets and values of the database header: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/**
 * Refuses a file that SQLite itself would accept, or could not open without a trace. An empty file is a valid database,
 * one in WAL mode leaves files beside it when it is opened, and a truncated file fails only where a page is missing.
 */
function checkHeader(path: string): void {
  // To open a pipe would block until another process writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let size: number;
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new RefusedSnapshot('not-a-file', 'not a regular file');
    size = status.size;
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (size === 0) throw new RefusedSnapshot('empty', 'the file is empty');
  if (size < HEADER_BYTES || header.toString('latin1', 0, 16) !== MAGIC) {
    throw new RefusedSnapshot('not-sqlite', 'not an SQLite database');
  }
  const applicationId = header.readInt32BE(68);
  if (applicationId !== APPLICATION_ID) {
    throw new RefusedSnapshot(
      'foreign',
      `another application's database: its application_id is ${hex(applicationId)}, a snapshot's is ${hex(APPLICATION_ID)}`,
    );
  }
  const version = header.readInt32BE(60);
  if (version !== FORMAT_VERSION) {
    throw new RefusedSnapshot(
      'other-version',
      `its format (user_version) is ${version}, this Foyer reads format ${FORMAT_VERSION}; ` +
        (version > FORMAT_VERSION ? 'use a newer Foyer' : `rebuild it from its import folder: ${REBUILD}`),
    );
  }
  if (header[18] !== 1 || header[19] !== 1) {
    throw new RefusedSnapshot(
      'wal',
      'it is in WAL mode; a snapshot is in rollback-journal mode (PRAGMA journal_mode = DELETE)',
    );
  }
  if (header.readUInt32BE(56) !== 1) throw new RefusedSnapshot('schema', 'its text encoding is not UTF-8');
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const expected = header.readUInt32BE(28) * pageSize;
  if (size !== expected) {
    throw new RefusedSnapshot(
      'cut-short',
      `its header says ${expected} bytes, the file has ${size}: ` +
        (size < expected ? 'it was cut short, or is still being copied' : 'something was added at its end'),
    );
  }
  // SQLite would read both as a part of the database, whatever the header says.
  for (const kind of ['journal', 'wal']) {
    if (existsSync(`${path}-${kind}`)) {
      throw new RefusedSnapshot(
        'unfinished',
        `a ${kind} lies beside it (-${kind}): its writer has not finished`,
      );
    }
  }
}

function checkSchema(database: Database.Database): void {
  const found = new Set(schemaStatements(database));
  const expected = new Set(SCHEMA_STATEMENTS);
  const named = (statement: string) => statement.slice(0, statement.indexOf(':'));
  const unexpected = [...found.difference(expected)].map(named);
  const missing = [...expected.difference(found)].map(named);
  const changed = unexpected.filter((name) => missing.includes(name));
  const problems = [
    ...changed.map((name) => `${name} is declared otherwise`),
    ...missing.filter((name) => !changed.includes(name)).map((name) => `${name} is missing`),
    ...unexpected.filter((name) => !changed.includes(name)).map((name) => `${name} does not belong`),
  ];
  if (problems.length > 0) {
    throw new RefusedSnapshot(
      'schema',
      `its schema is not that of a snapshot (data/schema.sql): ${problems.join(', ')}`,
    );
  }
}

function hex(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(8, '0')}`;
}

export const SNAPSHOT_SUFFIX = '.sqlite';

/** Whether a file of the snapshot folder is one to serve, by its name. Others are not ours, such as those being written. */
export function isSnapshotName(name: string): boolean {
  return /^(?!\.)[^/\p{Cc}]+$/u.test(name) && name.endsWith(SNAPSHOT_SUFFIX);
}

/** Brings a file, or the entries of a folder, to the disk, so that it outlasts a loss of power. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import Database from 'better-sqlite3';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { RefusalReason } from './refused-snapshot.ts';
import { APPLICATION_ID, FORMAT_VERSION, SCHEMA_STATEMENTS, schemaStatements } from './format.ts';

/**
 * Opens a snapshot file for reading, after its header and its schema were found to be ours.
 * @throws RefusedSnapshot
 */
export function openSnapshot(path: string): Database.Database {
  let database: Database.Database | undefined;
  try {
    checkHeader(path);
    database = new Database(path, { readonly: true, fileMustExist: true });
    database.pragma('trusted_schema = OFF');
    database.pragma('cell_size_check = ON');
    checkSchema(database);
    return database;
  } catch (error) {
    database?.close();
    throw asRefusal(error);
  }
}

/** What SQLite and the system say of a file that cannot be read is a reason to refuse it, not a fault of ours. */
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

/** Offsets and values of the database header: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/**
 * What SQLite itself would let pass, or could not look at without a trace: an empty file is a valid database, one
 * in WAL mode leaves files beside it when it is opened, and a file cut short fails only where it is missed.
 */
function checkHeader(path: string): void {
  // A pipe would keep whoever opens it waiting for somebody who writes.
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
      `its schema version (user_version) is ${version}, this Foyer reads version ${FORMAT_VERSION}` +
        (version > FORMAT_VERSION ? '; use a newer Foyer' : '; build it again'),
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
  // SQLite would take both for a part of the database, whatever the header says.
  for (const kind of ['journal', 'wal']) {
    if (existsSync(`${path}-${kind}`)) {
      throw new RefusedSnapshot(
        'unfinished',
        `a ${kind} lies beside it (-${kind}): whoever wrote it has not finished`,
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

import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Manifest } from './manifest.ts';
import { readManifest } from './read-manifest.ts';
import { type RefusalReason, RefusedSnapshot } from './refused-snapshot.ts';
import { APPLICATION_ID, FORMAT_VERSION, SCHEMA_STATEMENTS, schemaStatements } from './schema.ts';

/**
 * Settings against a hostile file (https://www.sqlite.org/security.html). better-sqlite3 sets "defensive" itself unless
 * `unsafeMode` is called, and does not offer `sqlite3_limit`. A truncated file that is mapped would end the process.
 */
export const DEFENCES = [
  ['trusted_schema', 0],
  ['cell_size_check', 1],
  ['mmap_size', 0],
] as const;

/** Returns a text that changes when the file is replaced or written to; undefined without a file. */
export function identityOf(path: string): string | undefined {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status && [status.dev, status.ino, status.size, status.mtimeNs].join();
}

/** A snapshot file that is open: a whole one, or one of changes. */
export interface OpenFile extends Disposable {
  readonly database: Database.Database;
  readonly manifest: Manifest;
  readonly bytes: number;
  /**
   * Attaches the file to another database.
   * @throws RefusedSnapshot when it has been replaced
   */
  readonly attachTo: (other: Database.Database, schema: string) => void;
}

/**
 * Opens a snapshot file, and checks its header, schema and manifest.
 * @param isOfChanges whether it is a file of changes
 * @throws RefusedSnapshot
 */
export function openFile(path: string, isOfChanges = false): OpenFile {
  let database: Database.Database | undefined;
  try {
    const before = identityOf(path);
    checkHeader(path);
    database = new Database(path, { readonly: true, fileMustExist: true });
    for (const [pragma, value] of DEFENCES) database.pragma(`${pragma} = ${value}`);
    database.pragma('query_only = 1');
    checkSchema(database);
    // SQLite does not report which file it opened. It opened the checked one if the path still leads to it.
    const { size } = statSync(path);
    if (identityOf(path) !== before)
      throw new RefusedSnapshot('unfinished', 'it was written to or replaced while it was being opened');
    const opened = database;
    const manifest = readManifest(opened, size, isOfChanges);
    const attachTo = (other: Database.Database, schema: string) => {
      // SQLite would create a file that is missing.
      const isSame = identityOf(path) === before;
      for (const [pragma, value] of DEFENCES) other.pragma(`${pragma} = ${value}`);
      if (isSame) other.prepare(`ATTACH ? AS ${schema}`).run(path);
      const select = `SELECT snapshot_id FROM ${schema}.snapshot`;
      if (!isSame || other.prepare<[], string>(select).pluck().get() !== manifest.snapshotId)
        throw new RefusedSnapshot('unfinished', 'it was replaced while it was being read: try again');
    };
    return { database: opened, manifest, bytes: size, attachTo, [Symbol.dispose]: () => opened.close() };
  } catch (error) {
    database?.close();
    throw asRefusal(error);
  }
}

/** Converts an error of SQLite or the system into a refusal. Returns any other error unchanged. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof Error && 'syscall' in error)
    return new RefusedSnapshot('unreadable', `it cannot be read: ${error.message}`);
  if (!(error instanceof Database.SqliteError)) return error;
  const message = `SQLite cannot read it: ${error.message} (${error.code}); copy or build it again`;
  return new RefusedSnapshot(reasonOf(error), message);
}

/** Result codes: https://www.sqlite.org/rescode.html. An extended code begins with the name of its primary code. */
function reasonOf({ code }: { readonly code: string }): RefusalReason {
  if (/^SQLITE_(CANTOPEN|IOERR|PERM|AUTH|NOMEM|FULL)/.test(code)) return 'unreadable';
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return 'unfinished';
  return code === 'SQLITE_NOTADB' ? 'not-sqlite' : 'damaged';
}

const REBUILD = 'rebuild it from its import folder: npm run snapshot -- build --input DIR --output FILE';

/** Offsets and values of the database header: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/**
 * Refuses files that SQLite would accept, or would create side files for.
 * SQLite treats an empty file as an empty database, creates side files for one in WAL mode, and reports a truncated
 * file only when it reads a missing page.
 */
function checkHeader(path: string): void {
  // A blocking open of a pipe would wait for a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new RefusedSnapshot('not-a-file', 'it is not a regular file');
    const firstPage = Buffer.alloc(MAX_PAGE_BYTES);
    readSync(file, firstPage, 0, MAX_PAGE_BYTES, 0);
    checkFields(firstPage, status.size);
    if (!isSchemaTree(firstPage, file)) {
      const message = `its table "sqlite_schema" has too many leaves or rows, a row of 16 kB, or other pages`;
      throw new RefusedSnapshot('schema', message);
    }
  } finally {
    closeSync(file);
  }
  // SQLite would apply either of these, regardless of the header.
  for (const kind of ['journal', 'wal']) {
    if (existsSync(`${path}-${kind}`))
      throw new RefusedSnapshot('unfinished', `a -${kind} file exists: the write to it is not complete`);
  }
}

function checkFields(header: Buffer, size: number): void {
  if (size === 0) throw new RefusedSnapshot('empty', 'the file is empty');
  if (size < HEADER_BYTES || header.toString('latin1', 0, 16) !== MAGIC)
    throw new RefusedSnapshot('not-sqlite', 'it is not an SQLite database');
  const applicationId = header.readInt32BE(68);
  if (applicationId !== APPLICATION_ID) {
    const found = `its application_id is ${applicationId}, not ${APPLICATION_ID}`;
    throw new RefusedSnapshot('foreign', `it is a database of another application: ${found}`);
  }
  const version = header.readInt32BE(60);
  if (version !== FORMAT_VERSION) {
    const found = `its format (user_version) is ${version}, but this Foyer reads format ${FORMAT_VERSION}`;
    const feed = 'for a feed, remove FEED_DIR/state, and the next one exports everything';
    throw new RefusedSnapshot('other-version', `${found}; ${REBUILD}; ${feed}`);
  }
  if (header[18] !== 1 || header[19] !== 1) {
    const required = 'a snapshot is in rollback-journal mode (PRAGMA journal_mode = DELETE)';
    throw new RefusedSnapshot('wal', `it is in WAL mode; ${required}`);
  }
  if (header.readUInt32BE(56) !== 1) throw new RefusedSnapshot('schema', 'its text encoding is not UTF-8');
  const expected = header.readUInt32BE(28) * pageSizeIn(header);
  if (size !== expected) {
    const cause = size < expected ? 'it is truncated, or still being copied' : 'bytes were added at its end';
    const found = `its header declares ${expected} bytes, but the file has ${size}`;
    throw new RefusedSnapshot('cut-short', `${found}: ${cause}`);
  }
}

export const MAX_PAGE_BYTES = 65_536;

function pageSizeIn(header: Buffer): number {
  const size = header.readUInt16BE(16);
  return size === 1 ? MAX_PAGE_BYTES : size;
}

/** Kinds and offsets in a tree page: https://www.sqlite.org/fileformat2.html#b_tree_pages */
const TABLE_LEAF = 13;
const TABLE_INTERIOR = 5;
const INTERIOR_HEADER_BYTES = 12;
/** With the smallest pages, 512 bytes, the schema of a snapshot has 13 leaves. */
const MAX_SCHEMA_PAGES = 64;
const LEAF_HEADER_BYTES = 8;
const MAX_SCHEMA_ROWS = 64;

/**
 * Returns whether `sqlite_schema` is one leaf, or some leaves below page 1, with a bounded number of short rows.
 * SQLite reads all of its rows before any check. A tree whose pages are linked many times would keep the thread in
 * SQLite for ever, where it cannot be ended.
 */
function isSchemaTree(page: Buffer, file: number): boolean {
  const pageSize = pageSizeIn(page);
  const root = page.subarray(HEADER_BYTES);
  if (root[0] === TABLE_LEAF) return isSchemaLeaf(page, HEADER_BYTES);
  const cells = root[0] === TABLE_INTERIOR ? root.readUInt16BE(3) : MAX_SCHEMA_PAGES;
  const end = HEADER_BYTES + INTERIOR_HEADER_BYTES + 2 * cells;
  if (cells >= MAX_SCHEMA_PAGES || end > pageSize) return false;
  const children = new Set([root.readUInt32BE(8)]);
  for (let at = end - 2 * cells; at < end; at += 2) {
    const cell = page.readUInt16BE(at);
    if (cell + 4 > pageSize) return false;
    children.add(page.readUInt32BE(cell));
  }
  const leaf = Buffer.alloc(pageSize);
  const isLeaf = (child: number) =>
    child > 0 &&
    readSync(file, leaf, 0, pageSize, (child - 1) * pageSize) === pageSize &&
    isSchemaLeaf(leaf, 0);
  return children.size === cells + 1 && children.values().every(isLeaf);
}

/** @param at offset of the header of the page */
function isSchemaLeaf(page: Buffer, at: number): boolean {
  const rows = page.readUInt16BE(at + 3);
  if (page[at] !== TABLE_LEAF || rows > MAX_SCHEMA_ROWS) return false;
  for (let row = 0; row < rows; row++) {
    const cell = page.readUInt16BE(at + LEAF_HEADER_BYTES + 2 * row);
    // The length of a row is a varint. Each byte but its last has the highest bit: two bytes suffice below 16 kB.
    if ((page[cell] & page[cell + 1] & 0x80) !== 0) return false;
  }
  return true;
}

function checkSchema(database: Database.Database): void {
  const found = schemaStatements(database);
  const objects = new Set([...SCHEMA_STATEMENTS.keys(), ...found.keys()]);
  const different = [...objects].filter((object) => found.get(object) !== SCHEMA_STATEMENTS.get(object));
  if (different.length === 0) return;
  const message = `its schema is not that of a snapshot (data/schema.sql) in ${different.join(', ')}; ${REBUILD}`;
  throw new RefusedSnapshot('schema', message);
}

export const SNAPSHOT_SUFFIX = '.sqlite';

/** Returns whether a file name in the snapshot folder is that of a snapshot. Copies in progress have other names. */
export function isSnapshotName(name: string): boolean {
  return /^(?!\.)[^/\p{Cc}]+$/u.test(name) && name.endsWith(SNAPSHOT_SUFFIX);
}

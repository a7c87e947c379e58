import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { type Manifest, recordsDigest } from './manifest.ts';
import { changesOf, manifestOf } from './open-snapshot.ts';
import { identityOf, SNAPSHOT_SUFFIX } from './snapshot-file.ts';

/** Modes of files with records, and of the folders for them: personal data is for the owner and the group. */
export const FILE_MODE = 0o640;
export const FOLDER_MODE = 0o750;
const LOCK_MODE = 0o660;

/** A file or folder to which nothing was added for this long is abandoned, on any machine. */
const ABANDONED_AFTER_MS = 86_400_000;

/**
 * Returns a new path beside a file, for what shall replace it. Watchers ignore hidden files. Removes abandoned ones: those
 * of ended processes on this machine, and old ones of any machine.
 *
 *     .north.sqlite.building-HOST-PID-RANDOM
 */
export function newHiddenPath(path: string, activity: 'building' | 'publishing' | 'tidying'): string {
  const folder = dirname(path);
  const prefix = `.${basename(path)}.${activity}-`;
  for (const entry of readdirSync(folder).filter((file) => file.startsWith(prefix))) {
    const hidden = join(folder, entry);
    const changedAt = statSync(hidden, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    const isOld = Date.now() - changedAt > ABANDONED_AFTER_MS;
    if (isOld || isOfEndedProcess(entry.slice(prefix.length)))
      rmSync(hidden, { force: true, recursive: true });
  }
  return join(folder, `${prefix}${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`);
}

function isOfEndedProcess(author: string): boolean {
  const [, host, pid] = /^(.+)-(\d+)-\w+$/.exec(author) ?? [];
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/** What is in the place of a snapshot. */
export interface Present {
  /** Changes with each file. */
  readonly identity: string;
  /** The same for a whole file that was made of the same changes; undefined for what is no snapshot. */
  readonly content: string | undefined;
}

/** Reads the identity first: a replacement during the call is then found when the contents are compared. */
export function presentAt(path: string): Present {
  const identity = identityOfBoth(path);
  // Changes beside a link would not be those of the file to which it leads.
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const manifest = isLink ? undefined : manifestOf(path);
  return { identity, content: manifest && contentOf(manifest) };
}

/** Returns a text that differs for other records, also under the same snapshot id, and for another publication. */
export function contentOf(manifest: Manifest): string {
  return [manifest.epoch, manifest.snapshotId, recordsDigest(manifest)].join(' ');
}

function identityOfBoth(path: string): string {
  return `${identityOf(path)} ${identityOf(changesOf(path))}`;
}

/**
 * Checks that a file to replace is as it was read before.
 * @throws RefusedSnapshot when it has changed
 */
export function checkPresent(path: string, former: Present): void {
  const isSame =
    identityOfBoth(path) === former.identity ||
    (former.content !== undefined && presentAt(path).content === former.content);
  if (isSame) return;
  throw new RefusedSnapshot(
    'unfinished',
    'the file to replace has changed meanwhile: build or publish again',
  );
}

/**
 * Does work while no other process changes what is published in the place of a file. The lock is that of the name: the
 * files are replaced. It ends with the process.
 * @throws RefusedSnapshot when it is held for too long, or cannot be acquired
 */
export function withLock<T>(path: string, work: () => T): T {
  const file = join(dirname(path), `.${basename(path, SNAPSHOT_SUFFIX)}.lock`);
  const isNew = !existsSync(file);
  const database = new Database(file);
  try {
    try {
      // Nothing is written.
      database.exec('BEGIN IMMEDIATE');
      if (isNew) shareLock(file);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new RefusedSnapshot('unfinished', `its lock ${file} cannot be had: ${reason}; try again`);
    }
    return work();
  } finally {
    database.close();
  }
}

/** Gives a lock file the owner and the group of its folder, also if root created it. */
function shareLock(file: string): void {
  const { uid, gid } = statSync(dirname(file));
  if (process.geteuid?.() === 0) chownSync(file, uid, gid);
  chmodSync(file, LOCK_MODE);
}

/** Puts a whole file in the place of a snapshot, and removes the changes of the former one. */
export function putWhole(file: string, path: string): void {
  renameSync(file, path);
  // Without the changes, the former file would be what it was before them.
  syncFolder(dirname(path));
  rmSync(changesOf(path), { force: true });
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Flushes a file or folder to disk, so that it survives a power loss. */
export async function sync(path: string): Promise<void> {
  await using handle = await open(path);
  await handle.sync();
}

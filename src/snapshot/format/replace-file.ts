import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { identityOf, manifestOf } from './snapshot-file.ts';

/** Modes of files with records, and of the folders for them: personal data is for the owner and the group. */
export const FILE_MODE = 0o640;
export const FOLDER_MODE = 0o750;

/** A file or folder to which nothing was added for this long is abandoned, on any machine. */
const ABANDONED_AFTER_MS = 86_400_000;

/**
 * Returns a new path beside a file, for what shall replace it. Watchers ignore hidden files. Removes abandoned ones: those
 * of ended processes on this machine, and old ones of any machine.
 *
 *     .north.sqlite.building-HOST-PID-RANDOM
 */
export function newHiddenPath(path: string, activity: 'building' | 'publishing'): string {
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

/**
 * Replaces a file. Other builds and publications in its place wait.
 * @param former the identity of the file to replace
 * @throws RefusedSnapshot when the path has another file by now
 */
export function replaceFile<T>(path: string, former: string | undefined, replace: () => T): T {
  using locks = new DisposableStack();
  // Nothing is written. A file of another user, or one that is no snapshot, is compared only.
  const present = statSync(path, { throwIfNoEntry: false });
  if (present?.uid === process.geteuid?.() && manifestOf(path) !== undefined) {
    const database = new Database(path, { fileMustExist: true });
    locks.adopt(database, () => database.close()).exec('BEGIN IMMEDIATE');
  }
  if (identityOf(path) !== former)
    throw new RefusedSnapshot(
      'unfinished',
      'the file to replace has changed meanwhile: build or publish again',
    );
  return replace();
}

/** Flushes a file or folder to disk, so that it survives a power loss. */
export async function sync(path: string): Promise<void> {
  await using handle = await open(path);
  await handle.sync();
}

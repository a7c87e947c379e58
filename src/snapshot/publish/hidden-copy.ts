import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Manifest, manifestDigest, type Permit, PERMITS, permitValues } from '../format/manifest.ts';
import { inspectSnapshot } from '../load/read-snapshot.ts';

/** A copy that has not been written to for this long is abandoned, on any machine. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Returns a new path for a copy that is not published yet. Watchers ignore hidden files.
 * Removes abandoned copies of `name`: those of ended processes on this machine, and old ones of any machine.
 *
 *     .north.sqlite.publishing-HOST-PID-RANDOM
 */
export function newHiddenCopy(folder: string, name: string): string {
  const prefix = `.${name}.publishing-`;
  for (const entry of readdirSync(folder).filter((file) => file.startsWith(prefix))) {
    const path = join(folder, entry);
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    const isOld = Date.now() - changedAt > ABANDONED_AFTER_MS;
    if (isOld || isOfEndedProcess(entry.slice(prefix.length))) rmSync(path, { force: true });
  }
  return join(folder, `${prefix}${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`);
}

function isOfEndedProcess(publisher: string): boolean {
  const [, host, pid] = /^(.+)-(\d+)-\w+$/.exec(publisher) ?? [];
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/**
 * Replaces the permits of a snapshot file, and updates its manifest digest. No other process may read the file.
 * Leaves the file unchanged when it has these permits already.
 * @throws RefusedSnapshot when the file is not a snapshot
 */
export function writePermits(path: string, permits: readonly Permit[]): Manifest {
  const found = inspectSnapshot(path);
  const manifest: Manifest = { ...found, permits };
  const digest = manifestDigest(manifest);
  if (digest === manifestDigest(found)) return manifest;
  const database = new Database(path, { fileMustExist: true });
  try {
    // No journal is needed: an incomplete copy is removed.
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    const columns = PERMITS.map((permit) => `permits_${permit} = ?`).join(', ');
    database.prepare(`UPDATE snapshot SET ${columns}, digest = ?`).run(...permitValues(permits), digest);
  } finally {
    database.close();
  }
  return manifest;
}

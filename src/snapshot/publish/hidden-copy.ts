import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Manifest, manifestDigest, type Permit, PERMITS, permitValues } from '../format/manifest.ts';
import { inspectSnapshot } from '../load/read-snapshot.ts';

/**
 * A copy that is not published yet stands in the snapshot folder under a name that is not looked at there:
 *
 *     .north.sqlite.publishing-HOST-PID-RANDOM
 */
const KEPT_MS = 3_600_000;

export function hiddenCopyPath(folder: string, name: string): string {
  return join(folder, `${prefixOf(name)}${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`);
}

/**
 * Removes the copies of `name` that were left behind when their publisher was killed: those of a process of this
 * machine that is no more, and those of any other that were not written to for an hour.
 */
export function removeAbandonedCopies(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(prefixOf(name))) continue;
    const path = join(folder, entry);
    if (isOfEndedProcess(entry.slice(prefixOf(name).length)) || isOld(path)) rmSync(path, { force: true });
  }
}

function prefixOf(name: string): string {
  return `.${name}.publishing-`;
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

function isOld(path: string): boolean {
  const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > KEPT_MS;
}

/**
 * Writes into a snapshot file that nobody else looks at what its publisher permits, in the place of what was permitted
 * before, and renews the digest of its manifest. A file that says so already stays as it is, byte for byte.
 * @throws RefusedSnapshot when it is no snapshot
 */
export function writePermits(path: string, permits: readonly Permit[]): Manifest {
  const found = inspectSnapshot(path);
  const manifest: Manifest = { ...found, permits };
  const digest = manifestDigest(manifest);
  if (digest === manifestDigest(found)) return manifest;
  const database = new Database(path, { fileMustExist: true });
  try {
    // No journal beside it: a copy that is not written through is thrown away.
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database
      .prepare(
        `UPDATE snapshot SET ${PERMITS.map((permit) => `permits_${permit} = ?`).join(', ')}, digest = ?`,
      )
      .run(...permitValues(permits), digest);
  } finally {
    database.close();
  }
  return manifest;
}

import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

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

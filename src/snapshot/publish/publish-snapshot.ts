import { constants, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { chmod, copyFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { checkSuccession, type Predecessor } from '../admission/admit.ts';
import { declaredCounts, type Manifest, type Permit } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { isSnapshotName, SNAPSHOT_SUFFIX, sync } from '../format/snapshot-file.ts';
import { loadSnapshot } from '../load/load-snapshot.ts';
import { inspectSnapshot, type OnProgress } from '../load/read-snapshot.ts';
import { hiddenCopyPath, writePermits, removeAbandonedCopies } from './hidden-copy.ts';

export interface PublishOptions {
  /** The snapshot file to publish. It stays as it is. */
  readonly file: string;
  /** The folder that replicas serve. */
  readonly folder: string;
  /** What it is to be called there, see `publishedName`. */
  readonly name: string;
  /** What this snapshot alone may do that would be refused else. What the file permits by itself does not count. */
  readonly permits: readonly Permit[];
  /** Called before the file is copied. */
  readonly onCopy?: () => void;
  /** Called now and then while the copy is verified. */
  readonly onProgress?: OnProgress;
  /** Breaks it off, with its reason thrown. */
  readonly signal?: AbortSignal;
}

export interface Published {
  /** The file that is served. */
  readonly path: string;
  readonly manifest: Manifest;
}

/** A snapshot was not published, for a reason that the message tells; `cause` has it. What stood there stands there. */
export class NotPublished extends Error {
  override readonly name = 'NotPublished';
}

/**
 * The name under which a file is published: that which is asked for, with or without `.sqlite`, else its own.
 * @throws NotPublished when there is no such name
 */
export function publishedName(file: string, asked?: string): string {
  if (asked === undefined) {
    const own = basename(file);
    if (isSnapshotName(own)) return own;
    throw new NotPublished(`${file}: give it a name to be published under, such as --as north`);
  }
  const name = asked.endsWith(SNAPSHOT_SUFFIX) ? asked : asked + SNAPSHOT_SUFFIX;
  if (isSnapshotName(name)) return name;
  throw new NotPublished(
    `"${asked}" cannot name a snapshot: it must be the name of a file, without a folder, that begins with no dot`,
  );
}

/**
 * Puts a snapshot file where replicas find it. A copy beside its place is verified, every byte of it, and then takes
 * the place in one step: nobody ever sees a part of it, nor anything that was not verified.
 *
 * @throws NotPublished, or the reason of the signal
 */
export async function publishSnapshot(options: PublishOptions): Promise<Published> {
  const { file, folder, name } = options;
  const path = join(folder, name);
  const manifest = await putInPlace(options, path).catch((error: unknown) => {
    throw isToBeTold(error) ? new NotPublished(`${file}: ${error.message}`, { cause: error }) : error;
  });
  await sync(folder);
  return { path, manifest };
}

/** What a person can act on: that a file is refused, or what the system or SQLite says. */
function isToBeTold(error: unknown): error is Error {
  if (error instanceof RefusedSnapshot || error instanceof Database.SqliteError) return true;
  return error instanceof Error && 'syscall' in error;
}

async function putInPlace(options: PublishOptions, path: string): Promise<Manifest> {
  const { file, folder, name, permits, onCopy, onProgress, signal } = options;
  checkFiles(file, path);
  // What cannot succeed is told before gigabytes are copied.
  checkPublication({ ...inspectSnapshot(file), permits }, folder, name);
  removeAbandonedCopies(folder, name);
  const copy = hiddenCopyPath(folder, name);
  try {
    onCopy?.();
    await copyFile(file, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    signal?.throwIfAborted();
    await chmod(copy, statSync(copy).mode | constants.S_IWUSR);
    const manifest = writePermits(copy, permits);
    await loadSnapshot(copy, { onProgress, signal });
    await sync(copy);
    checkPublication(manifest, folder, name);
    signal?.throwIfAborted();
    await rename(copy, path);
    return manifest;
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

function checkFiles(file: string, path: string): void {
  // A link that stands there is what gives way, not what it leads to.
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (present.isDirectory()) throw new NotPublished(`${path}: is a folder; a snapshot cannot take its place`);
  const { dev, ino } = statSync(file);
  if (dev === present.dev && ino === present.ino) {
    throw new NotPublished(`${file}: is what is published; publish the file that it was made from`);
  }
}

/**
 * Whether a replica that serves what is in `folder` would take a snapshot there under `name`. A file that cannot be
 * read as a snapshot is compared with nothing: in the place of the new one it is about to be mended, and beside it
 * it is not live.
 * @throws RefusedSnapshot with the reason that the replica would have
 */
export function checkPublication(next: Manifest, folder: string, name: string): void {
  for (const file of readdirSync(folder).filter(isSnapshotName)) {
    const present = manifestOf(join(folder, file));
    if (present === undefined) continue;
    if (file === name) checkSuccession(next, predecessorsIn(present));
    else checkApart(next, present, file);
  }
}

function manifestOf(path: string): Manifest | undefined {
  try {
    return inspectSnapshot(path);
  } catch (error) {
    if (error instanceof RefusedSnapshot) return undefined;
    throw error;
  }
}

function predecessorsIn({ producedAt, organizations }: Manifest): Map<string, Predecessor> {
  return new Map(
    organizations.map((organization) => [
      organization.organizationId,
      { producedAt, counts: declaredCounts(organization) },
    ]),
  );
}

function checkApart(next: Manifest, other: Manifest, file: string): void {
  const taken = new Set(other.organizations.map(({ organizationId }) => organizationId));
  const both = next.organizations.find(({ organizationId }) => taken.has(organizationId));
  if (both === undefined) return;
  throw new RefusedSnapshot(
    'conflict',
    `organization "${both.organizationId}" is published in ${file} already; ` +
      'an organization stands in one file alone: take it out of one of them, or publish under that name',
  );
}

import { randomUUID } from 'node:crypto';
import { constants, existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import {
  declaredCounts,
  type Manifest,
  manifestDigest,
  type Permit,
  PERMITS,
  permitValues,
} from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { aheadOfClock, checkSuccession } from '../format/succession.ts';
import { FILE_MODE, newHiddenPath, putWhole, sync, withLock } from '../format/replace-file.ts';
import { changesOf, inspectSnapshot, manifestOf, openSnapshot } from '../format/open-snapshot.ts';
import { identityOf, isSnapshotName, SNAPSHOT_SUFFIX } from '../format/snapshot-file.ts';
import { loadSnapshot } from '../load/load-snapshot.ts';
import { inTurns, makeWhole } from '../write/make-whole.ts';
import { type OnProgress } from '../load/read-snapshot.ts';

export interface PublishOptions {
  readonly file: string;
  /** The file in the snapshot folder, with a name from `publishedName`. */
  readonly path: string;
  /** The permits of the published file; those of the file that is copied are dropped. */
  readonly permits: readonly Permit[];
  readonly allowFuture?: boolean;
  readonly onCopy?: () => void;
  readonly onProgress?: OnProgress;
  /** Aborts the publication, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** The snapshot was not put into place. The file there is unchanged. The message is for operators. */
export class NotPublished extends Error {
  override readonly name = 'NotPublished';
}

/**
 * Returns the name to publish a file under: the requested name, else the file's own.
 * A requested name may lack `.sqlite`.
 * @throws NotPublished when the name is not valid for a snapshot
 */
export function publishedName(file: string, requested?: string): string {
  const given = requested ?? basename(file);
  const name = requested === undefined || given.endsWith(SNAPSHOT_SUFFIX) ? given : given + SNAPSHOT_SUFFIX;
  if (isSnapshotName(name)) return name;
  const rule = `a file name without a folder or a leading dot, such as ${requested === undefined ? '--as ' : ''}north`;
  throw new NotPublished(`"${given}" is not a valid snapshot name: specify ${rule}`);
}

/**
 * Publishes a snapshot file: verifies a hidden copy in full, then renames it into place.
 * Replicas see only complete, verified files.
 * @throws NotPublished, or the reason of the signal
 */
export async function publishSnapshot(options: PublishOptions) {
  const published = await publishCopy(options).catch((error: unknown) => {
    if (!isReportable(error)) throw error;
    throw new NotPublished(`${options.file}: ${error.message}`, { cause: error });
  });
  await sync(dirname(options.path));
  return published;
}

/** Returns whether an operator can act on an error: a refusal, or an error of the system or SQLite. */
function isReportable(error: unknown): error is Error {
  if (error instanceof RefusedSnapshot || error instanceof Database.SqliteError) return true;
  return error instanceof Error && 'syscall' in error;
}

async function publishCopy(options: PublishOptions) {
  const { file, path, permits, onCopy, onProgress, signal } = options;
  checkFiles(file, path);
  // Refuses before gigabytes are copied. The copy is checked again, since the folder may change during the copy.
  using snapshot = openSnapshot(file);
  const { manifest: declared, changes } = snapshot;
  const warning = options.allowFuture === true ? undefined : aheadOfClock(declared.producedAt, Date.now());
  if (warning !== undefined) throw new NotPublished(`${file}: ${warning}, or permit it with --allow-future`);
  checkPublication({ ...declared, permits }, path);
  const replaced = manifestOf(path);
  const isUnreadable = replaced === undefined && existsSync(path);
  const copy = newHiddenPath(path, 'publishing');
  try {
    onCopy?.();
    if (changes === undefined)
      await copyFile(file, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    else await inTurns(makeWhole(snapshot, copy), signal);
    signal?.throwIfAborted();
    await chmod(copy, FILE_MODE);
    const manifest = stamp(copy, permits);
    await loadSnapshot(copy, { onProgress, isThorough: true, signal });
    await sync(copy);
    signal?.throwIfAborted();
    const isDescendant = withLock(path, () => {
      const descends = checkPublication(manifest, path);
      putWhole(copy, path);
      return descends;
    });
    return { manifest, isDescendant, isCompared: replaced !== undefined, isUnreadable };
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

function checkFiles(file: string, path: string): void {
  // The rename replaces a link itself, not its target.
  const present = lstatSync(path, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (present.isDirectory()) throw new NotPublished(`${path}: is a folder; a snapshot cannot replace it`);
  const { dev, ino } = statSync(file);
  // Snapshots that a feed keeps have the published whole file in common, with other changes.
  const hasSameChanges = identityOf(changesOf(file)) === identityOf(changesOf(path));
  if (dev !== present.dev || ino !== present.ino || !hasSameChanges) return;
  throw new NotPublished(`${file}: is already the published file; publish the file that it was copied from`);
}

/**
 * Checks that a replica would admit the snapshot at a path in its folder. Files that cannot be read as snapshots do not
 * count: publishing replaces the file at the path, and others are not live.
 * @returns whether the changes since the replaced snapshot are known, or there is none
 * @throws RefusedSnapshot with the reason that the replica would give
 */
export function checkPublication(next: Manifest, path: string): boolean {
  const declared = new Set(next.organizations.map(({ organizationId }) => organizationId));
  const known = [next, ...next.ancestors].map((one) => one.snapshotId);
  let isDescendant = true;
  for (const [file, { snapshotId, producedAt, organizations }] of manifestsIn(dirname(path))) {
    if (file === basename(path)) {
      isDescendant = known.includes(snapshotId);
      const published = { snapshotId, producedAt };
      const replaced = organizations.map((one) => ({ ...one, ...published, counts: declaredCounts(one) }));
      checkSuccession(next, replaced);
      continue;
    }
    const shared = organizations.find(({ organizationId }) => declared.has(organizationId));
    if (shared === undefined) continue;
    throw new RefusedSnapshot(
      'conflict',
      `organization "${shared.organizationId}" is already published in ${file}; an organization may be in one file ` +
        'only: remove it from one of the files, or publish under that name',
    );
  }
  return isDescendant;
}

/** Yields the name and the manifest of each file in a snapshot folder that can be read as a snapshot. */
export function* manifestsIn(folder: string): Generator<[file: string, manifest: Manifest]> {
  for (const file of readdirSync(folder).filter(isSnapshotName)) {
    const manifest = manifestOf(join(folder, file));
    if (manifest !== undefined) yield [file, manifest];
  }
}

/**
 * Gives a whole file permits and an epoch of its own, so that no earlier changes apply to it. No other process may read it.
 * @throws RefusedSnapshot when the file is not a snapshot
 */
function stamp(path: string, permits: readonly Permit[]): Manifest {
  const manifest: Manifest = { ...inspectSnapshot(path), permits, epoch: randomUUID() };
  const digest = manifestDigest(manifest);
  const database = new Database(path, { fileMustExist: true });
  try {
    // No journal is needed: an incomplete copy is removed.
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    const columns = PERMITS.map((permit) => `permits_${permit} = ?`).join(', ');
    const update = database.prepare(`UPDATE snapshot SET epoch = ?, ${columns}, digest = ?`);
    update.run(manifest.epoch, ...permitValues(permits), digest);
  } finally {
    database.close();
  }
  return manifest;
}

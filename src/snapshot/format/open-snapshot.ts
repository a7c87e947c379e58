import { basename } from 'node:path';
import { existsSync, lstatSync } from 'node:fs';
import type { SnapshotOrigin } from '../../store/organization-image.ts';
import { instantOf, type Manifest } from './manifest.ts';
import { checkLists } from './read-manifest.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { asRefusal, type OpenFile, openFile, SNAPSHOT_SUFFIX } from './snapshot-file.ts';

/**
 * A snapshot that is open: its whole file, and the file of what has changed since, if there is one.
 * `test/support/pair.ts` is a model of this pair of files.
 */
export interface OpenSnapshot extends Disposable {
  readonly whole: OpenFile;
  readonly changes: OpenFile | undefined;
  /** The file with the manifest and the deletions. */
  readonly latest: OpenFile;
  readonly manifest: Manifest;
}

const CHANGES_SUFFIX = '.changes';

/** Returns the path of the file of changes: `north.changes` beside `north.sqlite`. */
export function changesOf(path: string): string {
  return (path.endsWith(SNAPSHOT_SUFFIX) ? path.slice(0, -SNAPSHOT_SUFFIX.length) : path) + CHANGES_SUFFIX;
}

/**
 * Opens a snapshot, and checks header, schema and manifest of its files. Ignores changes that do not apply to the whole
 * file, such as those of the one before.
 * @param path that of the whole file
 * @throws RefusedSnapshot
 */
export function openSnapshot(path: string): OpenSnapshot {
  using files = new DisposableStack();
  // A publication renames the whole file, then removes the changes.
  const found = openChanges(path);
  if (found !== undefined) files.use(found);
  const whole = files.use(openFile(path));
  const changes = found && appliesTo(found.manifest, whole.manifest) ? found : undefined;
  if (changes !== undefined) checkLists(changes.manifest, whole.bytes + changes.bytes);
  const opened = files.move();
  return snapshotOf(whole, changes, () => {
    opened.dispose();
  });
}

/** Returns the snapshot of a whole file and of changes that were made of it. */
export function snapshotOf(
  whole: OpenFile,
  changes?: OpenFile,
  dispose: () => void = () => undefined,
): OpenSnapshot {
  const latest = changes ?? whole;
  return { whole, changes, latest, manifest: latest.manifest, [Symbol.dispose]: dispose };
}

function openChanges(path: string): OpenFile | undefined {
  const changes = changesOf(path);
  try {
    const status = lstatSync(changes, { throwIfNoEntry: false });
    if (status === undefined) return undefined;
    if (status.isSymbolicLink()) throw new RefusedSnapshot('outside-folder', 'it is a link');
    return openFile(changes, true);
  } catch (thrown) {
    const error = asRefusal(thrown);
    // A publication may have removed it. A path through a file has none.
    if (!existsSync(changes)) return undefined;
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw new RefusedSnapshot(error.reason, `${basename(changes)}: ${error.message}`);
  }
}

function appliesTo(changes: Manifest, whole: Manifest): boolean {
  return changes.epoch === whole.epoch && covers(changes, whole);
}

/** Returns whether a file of changes, or a whole one, has all that an earlier snapshot lacks. */
export function covers({ snapshotId, ancestors, changesSince }: Manifest, earlier: SnapshotOrigin): boolean {
  const isKnown =
    snapshotId === earlier.snapshotId || ancestors.some((one) => one.snapshotId === earlier.snapshotId);
  return isKnown && (changesSince === '' || instantOf(earlier.producedAt) >= instantOf(changesSince));
}

/** Returns the manifest of a snapshot; undefined if it cannot be read. */
export function manifestOf(path: string): Manifest | undefined {
  try {
    return inspectSnapshot(path);
  } catch (error) {
    if (error instanceof RefusedSnapshot) return undefined;
    throw error;
  }
}

/** Reads the manifest of a snapshot. Throws RefusedSnapshot. */
export function inspectSnapshot(path: string): Manifest {
  using snapshot = openSnapshot(path);
  return snapshot.manifest;
}

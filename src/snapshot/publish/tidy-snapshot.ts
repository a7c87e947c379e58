import { renameSync, rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { instantOf } from '../format/manifest.ts';
import { covers, inspectSnapshot, type OpenSnapshot, openSnapshot } from '../format/open-snapshot.ts';
import { FILE_MODE, newHiddenPath, sync, withLock } from '../format/replace-file.ts';
import { identityOf } from '../format/snapshot-file.ts';
import { inTurns, makeWhole } from '../write/make-whole.ts';

/**
 * Makes a published snapshot one whole file, which its changes still apply to.
 * @param isForced by default, only changes that have grown are made whole
 * @returns whether there is a new whole file
 * @throws RefusedSnapshot when the files are damaged
 */
export async function tidySnapshot(path: string, isForced = false, signal?: AbortSignal): Promise<boolean> {
  const read = identityOf(path);
  using snapshot = openSnapshot(path);
  if (!isForced && !isDue(snapshot)) return false;
  if (snapshot.manifest.snapshotId === snapshot.whole.manifest.snapshotId) return false;
  const file = newHiddenPath(path, 'tidying');
  try {
    await inTurns(makeWhole(snapshot, file), signal);
    await chmod(file, FILE_MODE);
    await sync(file);
    signal?.throwIfAborted();
    const isReplaced = withLock(path, () => {
      // Feeds may have gone on. Another whole file, or another history, is not this one's to replace.
      if (identityOf(path) !== read || !covers(inspectSnapshot(path), snapshot.manifest)) return false;
      renameSync(file, path);
      return true;
    });
    await sync(dirname(path));
    return isReplaced;
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Returns whether all files of changes since the whole file have together as many bytes as this. At this point, the
 * least is written, whatever the changes are. The earlier ones are smaller: the mean is half of the last.
 */
function isDue({ whole, changes }: OpenSnapshot): boolean {
  if (changes === undefined) return false;
  const since = instantOf(whole.manifest.producedAt);
  const files = 1 + changes.manifest.ancestors.filter((one) => instantOf(one.producedAt) > since).length;
  const mean = changes.bytes / 2;
  return files * mean >= whole.bytes;
}

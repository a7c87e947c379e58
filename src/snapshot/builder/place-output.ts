import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Manifest } from '../format/manifest.ts';
import { changesOf, inspectSnapshot } from '../format/open-snapshot.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import {
  contentOf,
  FILE_MODE,
  newHiddenPath,
  type Present,
  putWhole,
  replaceFile,
  sync,
  withLock,
} from '../format/replace-file.ts';
import { loadSnapshot } from '../load/load-snapshot.ts';
import { checkPublication, NotPublished } from '../publish/publish-snapshot.ts';
import type { BuildOptions } from './build-options.ts';
import type { HeldBack } from './staging/rejections.ts';

export function refusedOutput(output: string, refusal: RefusedSnapshot): NotPublished {
  return new NotPublished(`${output}: ${refusal.message}`, { cause: refusal });
}

/** Puts a file in the place of the output, or of its changes. Returns how the snapshot follows a published one. */
export async function placeOutput(
  file: string,
  isOfChanges: boolean,
  manifest: Manifest,
  options: BuildOptions,
  heldBack: HeldBack[],
  former: Present,
) {
  const { output, signal, permits, holdBack } = options;
  await sync(file);
  const copied = options.base ?? (heldBack.length > 0 ? options.previous : undefined);
  if (!isOfChanges) await checkStored(file, options, former, copied);
  chmodSync(file, FILE_MODE);
  // From here on the build cannot be aborted.
  signal?.throwIfAborted();
  let isDescendant: boolean | undefined;
  const replace = () => {
    if (permits !== undefined) isDescendant = checkPublication(manifest, output);
    if (holdBack !== undefined) {
      const draft = newHiddenPath(holdBack, 'building');
      writeFileSync(draft, heldBack.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: FILE_MODE });
      renameSync(draft, holdBack);
    }
    if (isOfChanges) renameSync(file, changesOf(output));
    else putWhole(file, output);
  };
  try {
    // A new file has no other builder.
    if (permits === undefined && former.content === undefined) replaceFile(output, former, replace);
    else
      withLock(output, () => {
        replaceFile(output, former, replace);
      });
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw refusedOutput(output, error);
  }
  await sync(dirname(output));
  return { isDescendant };
}

/**
 * Checks a file with records of an earlier snapshot that is not published: serving them may never have been tried.
 * @param earlier the snapshot of which records were copied
 */
async function checkStored(
  file: string,
  { permits, signal }: BuildOptions,
  former: Present,
  earlier: string | undefined,
): Promise<void> {
  if (permits === undefined || earlier === undefined) return;
  if (former.content !== contentOf(inspectSnapshot(earlier)))
    await loadSnapshot(file, { isThorough: true, signal });
}

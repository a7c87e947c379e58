import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Manifest } from '../format/manifest.ts';
import { changesOf } from '../format/open-snapshot.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import {
  checkPresent,
  FILE_MODE,
  newHiddenPath,
  type Present,
  putWhole,
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

/**
 * Puts a file in the place of the output, or of its changes. Returns how the snapshot follows a published one.
 * @param isOfFormer whether the records that stay are those of the published snapshot that is replaced
 */
export async function placeOutput(
  file: string,
  isOfChanges: boolean,
  manifest: Manifest,
  options: BuildOptions,
  heldBack: HeldBack[],
  former: Present,
  isOfFormer: boolean,
) {
  const { output, signal, permits, holdBack } = options;
  await sync(file);
  const isCopied = options.base !== undefined || (options.previous !== undefined && heldBack.length > 0);
  // A snapshot that is not published may have records that cannot be served.
  if (permits !== undefined && isCopied && !isOfChanges && !isOfFormer)
    await loadSnapshot(file, { isThorough: true, signal });
  chmodSync(file, FILE_MODE);
  // From here on the build cannot be aborted.
  signal?.throwIfAborted();
  let isDescendant: boolean | undefined;
  const replace = () => {
    checkPresent(output, former);
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
    if (permits === undefined && former.content === undefined) replace();
    else withLock(output, replace);
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw refusedOutput(output, error);
  }
  await sync(dirname(output));
  return { isDescendant };
}

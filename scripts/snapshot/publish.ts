import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { CONFIG_VARIABLES, readConfig } from '../../src/config.ts';
import { PERMITS } from '../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { FOLDER_MODE } from '../../src/snapshot/format/replace-file.ts';
import { NotPublished, publishedName, publishSnapshot } from '../../src/snapshot/publish/publish-snapshot.ts';
import { Interruption } from '../interruption.ts';
import { JSON_OPTION, Refused } from '../run-command.ts';
import { warn } from '../terminal/print.ts';
import { Progress } from '../terminal/progress.ts';
import { count, timeSpan } from '../terminal/units.ts';
import { printResult, showing } from './snapshot-file.ts';

interface PublishChoices {
  readonly as?: string;
  readonly rollback?: true;
  readonly allowShrink?: true;
  readonly allowFuture?: true;
  readonly json?: true;
}

export const SHRINK_OPTION = [
  '--allow-shrink',
  'permit that an organization or more than half of a collection is missing',
] as const;

export const NO_DESCENDANT =
  'the snapshot does not descend from the one that it replaces, so integrators copy all records again';
export const DESCEND = '; build the next one with --base or --previous';

export function addPublish(program: Command): void {
  program
    .command('publish')
    .description(
      'Verifies a copy of a snapshot file and puts it into SNAPSHOT_DIR atomically, in place of a file of the same name.',
    )
    .argument('<file>', 'snapshot file')
    .option('--as <name>', 'name to publish under, if not the name of the file')
    .option('--rollback', 'permit this snapshot to go live although it is older')
    .option(...SHRINK_OPTION)
    .option('--allow-future', 'permit a production time more than 5 minutes ahead of the clock')
    .option(...JSON_OPTION)
    .action(publish);
}

async function publish(file: string, options: PublishChoices): Promise<void> {
  if (!existsSync(file)) throw new Refused(`${file}: no such file`, { file });
  const began = performance.now();
  using interruption = new Interruption('nothing was published');
  using progress = new Progress();
  try {
    const path = join(snapshotFolder(), publishedName(file, options.as));
    const { manifest, isDescendant, isCompared, isUnreadable } = await publishSnapshot({
      file,
      path,
      permits: PERMITS.filter(
        (permit) => ({ rollback: options.rollback, shrink: options.allowShrink })[permit],
      ),
      allowFuture: options.allowFuture === true,
      signal: interruption.signal,
      onCopy: () => {
        progress.show('copying the file');
      },
      onProgress: showing(progress, 'checking'),
    });
    progress.clear();
    const { snapshotId, producedAt, organizations, permits } = manifest;
    const milliseconds = performance.now() - began;
    printResult(options.json, {
      file: path,
      snapshotId,
      producedAt,
      more: {
        permits,
        organizations: organizations.length,
        isDescendant,
        isCompared,
        seconds: milliseconds / 1000,
      },
      line: `published in ${timeSpan(milliseconds)}`,
      shown: {
        organizations: count(organizations.length),
        ...(permits.length > 0 && { permits: permits.join(', ') }),
        ...(!isCompared && {
          compared: `with nothing, since ${path} was ${isUnreadable ? 'unreadable' : 'absent'}`,
        }),
      },
    });
    if (!isDescendant && !options.json) warn(`warning: ${NO_DESCENDANT}${options.rollback ? '' : DESCEND}`);
  } catch (error) {
    throw error instanceof NotPublished ? notPublished(error, 'nothing was published', file) : error;
  }
}

/** Returns the refusal of a snapshot that was not put into place. */
export function notPublished({ message, cause }: NotPublished, consequence: string, file: string): Refused {
  const reason = cause instanceof RefusedSnapshot ? cause.reason : undefined;
  return new Refused(`${message}; ${consequence}`, { file, reason });
}

/**
 * Returns the folder to publish into. Only the default folder is created if absent: a mistyped SNAPSHOT_DIR would
 * otherwise name a new folder that no replica polls.
 */
export function snapshotFolder(): string {
  const folder = readConfig().snapshotDir;
  if (folder === CONFIG_VARIABLES.SNAPSHOT_DIR.default)
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  if (!existsSync(folder)) {
    throw new Refused(
      `SNAPSHOT_DIR is ${folder}: no such folder; if the name is right, create it: mkdir -p ${folder}`,
    );
  }
  if (!statSync(folder).isDirectory()) throw new Refused(`SNAPSHOT_DIR is ${folder}: not a folder`);
  return folder;
}

import { join } from 'node:path';
import type { Command } from 'commander';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { publishedName } from '../../src/snapshot/publish/publish-snapshot.ts';
import { tidySnapshot } from '../../src/snapshot/publish/tidy-snapshot.ts';
import { Interruption } from '../interruption.ts';
import { Refused } from '../run-command.ts';
import { print, warn } from '../terminal/print.ts';
import { snapshotFolder } from './publish.ts';

export function addTidy(program: Command): void {
  program
    .command('tidy')
    .description(
      'Makes a published snapshot and its changes one whole file. A build does so once the changes have grown.',
    )
    .argument('<name>', 'name of the snapshot')
    .option('--grown', 'only if the changes have grown')
    .action(tidy);
}

async function tidy(name: string, { grown = false }: { grown?: boolean }): Promise<void> {
  const path = join(snapshotFolder(), publishedName(name, name));
  using interruption = new Interruption('the changes stay');
  try {
    const isMade = await tidySnapshot(path, !grown, interruption.signal);
    if (isMade || !grown) print(`${path}: ${isMade ? 'made whole' : 'is whole'}`);
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw new Refused(`${path}: ${error.message}; the changes stay`, { file: path, reason: error.reason });
  }
}

/** Makes a snapshot whole that was published, if its changes have grown. A failure leaves the publication as it is. */
export async function tidyUp(path: string, signal: AbortSignal): Promise<void> {
  try {
    await tidySnapshot(path, false, signal);
  } catch (error) {
    warn(
      `warning: ${path}: the snapshot is published, but its changes grow: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

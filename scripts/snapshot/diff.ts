import type { Command } from 'commander';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { diffSnapshots } from '../diff/diff-snapshots.ts';
import { printDiff } from '../diff/print-diff.ts';
import { JSON_OPTION, printJson, Refused } from '../run-command.ts';
import { Progress } from '../terminal/progress.ts';
import { showing } from './snapshot-file.ts';

export function addDiff(program: Command): void {
  const [json, description] = JSON_OPTION;
  program
    .command('diff')
    .description('Shows the differences between two snapshot files: organizations, counts and ids.')
    .argument('<before>', 'earlier snapshot file')
    .argument('<after>', 'later snapshot file')
    .option('--all', 'show all ids, not only the first 20 of each kind')
    .option(json, `${description}, with all ids`)
    .action(diff);
}

function diff(before: string, after: string, { all, json }: { all?: true; json?: true }): void {
  using progress = new Progress();
  try {
    const found = diffSnapshots(before, after, showing(progress, 'comparing'));
    progress.clear();
    if (json) printJson(found);
    else printDiff(found, all === true);
  } catch (error) {
    if (error instanceof RefusedSnapshot) throw new Refused(error.message, { reason: error.reason });
    throw error;
  }
}

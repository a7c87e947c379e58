import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { interruption } from '../interruption.ts';
import { Refused, runCommand } from '../run-command.ts';
import { terminalProgress } from '../terminal-progress.ts';
import { FIRST_SWAPS, refreshMemory } from './refresh-memory.ts';
import { buildRefreshStage } from './refresh-stage.ts';
import { refreshUnderLoad } from './refresh-under-load.ts';
import { printRows } from './row.ts';
import type { Row } from './row.ts';

const MOST_MINUTES = 60;

interface RefreshOptions {
  tickets: number;
  swaps: number;
  rounds: number;
  json: boolean;
}

const program = new Command('bench').description(
  'Measures what Foyer promises, on this machine, and says whether it is reached. A figure that is not reached is no error.',
);

program
  .command('refresh')
  .description('requests, event loop and memory while snapshots go live')
  .option('--tickets <n>', 'tickets of the snapshots', wholeNumber(100), 300_000)
  .option(
    '--swaps <n>',
    'snapshots that go live before memory is looked at',
    wholeNumber(FIRST_SWAPS + 1),
    100,
  )
  .option('--rounds <n>', 'times that a snapshot goes live under load', wholeNumber(1), 5)
  .option('--json', 'print JSON instead of a table', false)
  .allowExcessArguments(false)
  .action(refresh);

await runCommand(program);

async function refresh({ tickets, swaps, rounds, json }: RefreshOptions): Promise<void> {
  const progress = terminalProgress();
  const show = (text: string) => {
    progress.show(text);
  };
  const signal = untilStopped();
  const folder = mkdtempSync(join(tmpdir(), 'foyer-bench-'));
  try {
    const stage = await buildRefreshStage(folder, tickets, signal, show);
    const rows = [...(await refreshUnderLoad(stage, rounds, show)), await refreshMemory(stage, swaps, show)];
    progress.clear();
    print('refresh', { tickets, swaps, rounds }, rows, json);
  } finally {
    progress.clear();
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(
  bench: string,
  sizes: Readonly<Record<string, number>>,
  rows: readonly Row[],
  json: boolean,
): void {
  const conditions = { ...sizes, cpus: availableParallelism(), node: process.version };
  if (json) console.log(JSON.stringify({ bench, conditions, rows }, null, 2));
  else {
    console.log(
      Object.entries(conditions)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', '),
    );
    printRows(rows);
  }
}

/** Is aborted by the first signal to stop, or when a bench takes far too long. */
function untilStopped(): AbortSignal {
  const outcome = 'nothing was measured';
  const late = new AbortController();
  const reason = new Refused(`not done after ${MOST_MINUTES} minutes; ${outcome}`);
  setTimeout(() => {
    late.abort(reason);
  }, MOST_MINUTES * 60_000).unref();
  return AbortSignal.any([interruption(outcome), late.signal]);
}

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!(value >= least)) throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
    return value;
  };
}

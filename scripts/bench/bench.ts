import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Argument, InvalidArgumentError } from 'commander';
import { Interruption } from '../interruption.ts';
import { commandLine, runCommand, wholeNumber } from '../run-command.ts';
import { Progress } from '../terminal/progress.ts';
import { left, table } from '../terminal/table.ts';
import { count } from '../terminal/units.ts';
import { BenchContext, type Sizes } from './bench-context.ts';
import { measureBuild, measureChanges } from './groups/changes.ts';
import { measureFeeds } from './groups/feeds.ts';
import { measureLoad } from './groups/load.ts';
import { measureOverload } from './groups/overload.ts';
import { FIRST_SWAPS, measureRefresh } from './groups/refresh.ts';
import { measureRequests } from './groups/requests.ts';
import { measureScale } from './groups/scale.ts';
import { measureStreams } from './groups/streams.ts';
import { printRows, type Row } from './rows.ts';

/** Groups can be measured apart from each other; this is their order. */
const GROUPS = {
  requests: ['requests a second, compared with bare servers', measureRequests],
  streams: ['bytes a second of streams, and other requests during them', measureStreams],
  changes: ['the changes since a snapshot, compared with all records', measureChanges],
  overload: ['goodput and response times beyond the capacity', measureOverload],
  scale: ['response time of each kind of query at two sizes', measureScale],
  build: ['a build from changes, compared with one of all records', measureBuild],
  load: ['load time and memory of a large snapshot', measureLoad],
  refresh: ['requests, event loop and memory while snapshots go live', measureRefresh],
  feeds: ['memory and pages after many feeds, compared with a fresh start', measureFeeds],
} as const;
type Group = keyof typeof GROUPS;
const NAMES = Object.keys(GROUPS) as readonly Group[];

const ALL_GROUPS_MINUTES = 45;

interface Options extends Sizes {
  readonly keep?: string;
  readonly against?: string;
  readonly only?: string;
  readonly json?: true;
}

const program = commandLine(
  'bench',
  'Measures the performance that Foyer promises, on this machine, as ratios.\n' +
    'A figure out of reach is not an error. Groups of figures:\n' +
    NAMES.map((name) => `  ${name.padEnd(10)}${GROUPS[name][0]}`).join('\n'),
)
  .addArgument(
    new Argument('[group...]', `groups to measure; all take about ${ALL_GROUPS_MINUTES} minutes`).choices(
      NAMES,
    ),
  )
  .option('--tickets <n>', 'tickets of the snapshot that most groups use', wholeNumber(100), 300_000)
  .option(
    '--large-tickets <n>',
    'tickets of the large snapshot of scale, build and load',
    wholeNumber(1000),
    2_000_000,
  )
  .option('--events <n>', 'events of the large snapshot, and of the small one of scale', wholeNumber(1), 40)
  .option('--rounds <n>', 'rounds of each figure', wholeNumber(1), 5)
  .option('--seconds <n>', 'length of the load on a server in a round', seconds, 2)
  .option(
    '--swaps <n>',
    'snapshots that go live before memory is measured',
    wholeNumber(FIRST_SWAPS + 1),
    100,
  )
  .option('--feeds <n>', 'feeds before memory and pages are compared with a fresh start', wholeNumber(1), 500)
  .option('--keep <dir>', 'folder that keeps the snapshots for later runs')
  .option(
    '--against <dir>',
    'another checkout of Foyer with installed dependencies, to compare requests with instead of bare servers',
  )
  .option('--only <text>', 'measure only the requests with this text in their names')
  .option('--json', 'print JSON instead of tables')
  .action(bench);

process.exitCode = await runCommand(program, process.argv.slice(2));

async function bench(chosen: Group[], options: Options): Promise<void> {
  const groups = chosen.length === 0 ? NAMES : NAMES.filter((name) => chosen.includes(name));
  if (chosen.length === 0 && !options.json) {
    console.error(`All groups take about ${ALL_GROUPS_MINUTES} minutes. Single groups: ${NAMES.join(', ')}.`);
  }
  const rows: Row[] = [];
  try {
    await measure(groups, options, rows);
  } finally {
    // Figures taken before a failure are valid.
    if (rows.length > 0) print(groups, options, rows);
  }
}

function print(groups: readonly Group[], options: Options, rows: readonly Row[]): void {
  const cpu = cpus()[0]?.model ?? 'unknown';
  const conditions = { ...options, cpus: availableParallelism(), cpu, node: process.version };
  if (options.json) {
    console.log(JSON.stringify({ groups, conditions, rows }, null, 2));
    return;
  }
  const described = Object.entries(conditions).map(([name, value]) => [
    name,
    typeof value === 'number' ? count(value) : String(value),
  ]);
  console.log(`${table([left(''), left('')], described)}\n`);
  printRows(rows);
}

/** Measures the groups, and adds their rows. However it ends, it leaves no file and no process behind. */
async function measure(groups: readonly Group[], options: Options, rows: Row[]): Promise<void> {
  using progress = new Progress();
  using interruption = new Interruption('not all was measured');
  const { keep, against, only = '' } = options;
  const folder = mkdtempSync(join(tmpdir(), 'foyer-bench-'));
  if (keep !== undefined) mkdirSync(keep, { recursive: true });
  let done = 0;
  try {
    const context = new BenchContext({
      sizes: options,
      folder,
      keep,
      against: against === undefined ? undefined : pathToFileURL(`${resolve(against)}/`),
      only,
      signal: interruption.signal,
      showProgress: (text) => {
        progress.show(text, groups.length > 1 ? done / groups.length : undefined);
      },
    });
    for (; done < groups.length; done++) rows.push(...(await GROUPS[groups[done]][1](context)));
  } catch (error) {
    // Of an interrupted bench, the reason counts, and not what it made fail.
    interruption.signal.throwIfAborted();
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function seconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number of seconds, such as 2 or 0.5.');
  return value;
}

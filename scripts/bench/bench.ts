import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { interruption } from '../interruption.ts';
import { Refused, runCommand } from '../run-command.ts';
import { terminalProgress } from '../terminal-progress.ts';
import { type Sizes, Stage } from './bench-context.ts';
import { printRows, type Row } from './figures.ts';
import { measureLatency } from './groups/latency.ts';
import { measureLoad } from './groups/load.ts';
import { FIRST_SWAPS, measureRefresh } from './groups/refresh.ts';
import { measureRequests } from './groups/requests.ts';
import { type KindFigure, measureScale, printKinds } from './groups/scale.ts';
import { measureStart } from './groups/start.ts';
import { measureThreads } from './groups/threads.ts';

/** What a group measured. */
export interface Figures {
  readonly rows: readonly Row[];
  /** Behind one row there may be many kinds of query. */
  readonly kinds?: readonly KindFigure[];
}

/** The figures that may be taken apart from the others, in the order in which they are taken. */
export const GROUPS = {
  requests: group('requests a second, against a bare server and the usual way', measureRequests),
  latency: group('how long requests take under load, against a bare server', measureLatency),
  threads: group('what a second thread brings, and what memory each takes', measureThreads),
  scale: {
    description: 'the time of each kind of query at a large and at a small size',
    measure: (stage: Stage): Promise<Figures> => measureScale(stage),
  },
  load: group('the load of a large snapshot, and the memory that it takes', measureLoad),
  start: group('the start of the demo', measureStart),
  refresh: group('requests, event loop and memory while snapshots go live', measureRefresh),
};

export type Group = keyof typeof GROUPS;

function group(description: string, rowsOf: (stage: Stage) => Promise<Row[]>) {
  return { description, measure: async (stage: Stage): Promise<Figures> => ({ rows: await rowsOf(stage) }) };
}

const MOST_MINUTES = 120;
const ALL_MINUTES = 30;
const NAMES = Object.keys(GROUPS) as readonly Group[];

interface Choices {
  /** Folder of snapshots that are kept. */
  readonly keep?: string;
  /** Folder of another checkout. */
  readonly against?: string;
  /** Part of the names of the kinds of request. */
  readonly only?: string;
}

interface Options extends Sizes, Choices {
  readonly json: boolean;
}

const program = new Command('bench')
  .description(
    'Measures what Foyer promises, on this machine, as ratios.\n' +
      'A figure that is not what it should be is no error. Groups of figures:\n' +
      NAMES.map((name) => `  ${name.padEnd(10)}${GROUPS[name].description}`).join('\n'),
  )
  .addArgument(
    new Argument('[group...]', `what to measure; all of it takes about ${ALL_MINUTES} minutes`).choices(
      NAMES,
    ),
  )
  .option('--tickets <n>', 'tickets of the snapshots', wholeNumber(100), 300_000)
  .option('--large-tickets <n>', 'tickets of the snapshot of scale and load', wholeNumber(1000), 2_000_000)
  .option(
    '--events <n>',
    'events of that one, and of the small one that scale compares it with',
    wholeNumber(1),
    40,
  )
  .option('--rounds <n>', 'times that each figure is taken', wholeNumber(1), 5)
  .option('--seconds <n>', 'how long a server is asked in a round', seconds, 2)
  .option(
    '--swaps <n>',
    'snapshots that go live before memory is looked at',
    wholeNumber(FIRST_SWAPS + 1),
    100,
  )
  .option('--keep <dir>', 'folder that the snapshots are kept in, for another time')
  .option(
    '--against <dir>',
    'another checkout of Foyer with its dependencies installed, which requests and load are compared with instead',
  )
  .option('--only <text>', 'of requests, only the kinds with this text in their names')
  .option('--json', 'print JSON instead of tables', false)
  .action(bench);

await runCommand(program);

async function bench(chosen: Group[], { keep, against, only, json, ...sizes }: Options): Promise<void> {
  const groups = chosen.length === 0 ? NAMES : NAMES.filter((name) => chosen.includes(name));
  if (chosen.length === 0 && !json) {
    console.error(`All of it takes about ${ALL_MINUTES} minutes. One at a time: ${NAMES.join(', ')}.`);
  }
  const { rows, kinds, failure } = await measure(groups, sizes, { keep, against, only });
  // What was measured until something failed is as good as ever.
  if (rows.length > 0) print(groups, sizes, rows, kinds, json);
  if (failure !== undefined) throw failure.reason;
}

function print(
  groups: readonly Group[],
  sizes: Sizes,
  rows: readonly Row[],
  kinds: readonly KindFigure[] | undefined,
  json: boolean,
): void {
  const conditions = {
    ...sizes,
    cpus: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    node: process.version,
  };
  if (json) {
    console.log(JSON.stringify({ groups, conditions, rows, ...(kinds && { kinds }) }, null, 2));
    return;
  }
  const told = Object.entries(conditions).map(([name, value]) => `${name}: ${value}`);
  console.log(`${told.join(', ')}\n`);
  printRows(rows);
  if (kinds) printKinds(kinds);
}

interface Measured {
  readonly rows: readonly Row[];
  readonly kinds: readonly KindFigure[] | undefined;
  /** What kept it from measuring the rest. */
  readonly failure: { readonly reason: unknown } | undefined;
}

/** All that the groups measure. No file and no process is left of it, however it ends. */
async function measure(
  groups: readonly Group[],
  sizes: Sizes,
  { keep, against, only }: { readonly [Choice in keyof Choices]: Choices[Choice] | undefined },
): Promise<Measured> {
  const progress = terminalProgress();
  const signal = untilStopped();
  const folder = mkdtempSync(join(tmpdir(), 'foyer-bench-'));
  const rows: Row[] = [];
  let kinds: readonly KindFigure[] | undefined;
  let failure: Measured['failure'];
  try {
    const show = (text: string) => {
      progress.show(text);
    };
    const other = against === undefined ? undefined : pathToFileURL(`${resolve(against)}/`);
    const stage = new Stage(sizes, folder, keep, signal, show, other, only);
    for (const name of groups) {
      const figures = await GROUPS[name].measure(stage);
      rows.push(...figures.rows);
      kinds ??= figures.kinds;
    }
  } catch (reason) {
    failure = { reason };
  } finally {
    progress.clear();
    rmSync(folder, { recursive: true, force: true });
  }
  return { rows, kinds, failure };
}

/** Is aborted by the first signal to stop, or when a bench takes far too long. */
function untilStopped(): AbortSignal {
  const outcome = 'not all was measured';
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

function seconds(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number of seconds, such as 2 or 0.5.');
  return value;
}

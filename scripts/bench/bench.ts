import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Argument, InvalidArgumentError } from 'commander';
import { Interruption } from '../interruption.ts';
import { commandLine, Refused, runCommand } from '../run-command.ts';
import { Progress } from '../terminal/progress.ts';
import { left, table } from '../terminal/table.ts';
import { count } from '../terminal/units.ts';
import { BenchContext, type Sizes } from './bench-context.ts';
import { printRows, type Row } from './figures.ts';
import { measureBuild } from './groups/build.ts';
import { measureChanges } from './groups/changes.ts';
import { measureCompression } from './groups/compression.ts';
import { measureLatency } from './groups/latency.ts';
import { measureLoad } from './groups/load.ts';
import { measureOverload } from './groups/overload.ts';
import { FIRST_SWAPS, measureRefresh } from './groups/refresh.ts';
import { measureRequests } from './groups/requests.ts';
import { type KindFigure, measureScale, printKinds } from './groups/scale.ts';
import { measureStart } from './groups/start.ts';
import { measureStreams } from './groups/streams.ts';
import { measureThreads } from './groups/threads.ts';

/** The figures of a group. */
interface GroupResult {
  readonly rows: readonly Row[];
  /** The kinds of query behind a row of `scale`. */
  readonly kinds?: readonly KindFigure[];
}

/** Groups can be measured apart from each other; this is their order. */
const GROUPS = {
  requests: group('requests a second, compared with a bare server and others', measureRequests),
  latency: group('response times under load, compared with a bare server', measureLatency),
  streams: group('bytes a second of streams, and requests beside them', measureStreams),
  changes: group('the changes since a snapshot, compared with all records', measureChanges),
  compression: group('requests a second of compressed pages, response times of others', measureCompression),
  overload: group('goodput and response times beyond the capacity', measureOverload),
  threads: group('throughput of a second thread, and memory of each', measureThreads),
  scale: {
    description: 'response time of each kind of query at two sizes',
    measure: measureScale,
  },
  build: group('a build from changes, compared with one of all records', measureBuild),
  load: group('load time and memory of a large snapshot', measureLoad),
  start: group('start of the demo', measureStart),
  refresh: group('requests, event loop and memory while snapshots go live', measureRefresh),
};

type Group = keyof typeof GROUPS;

/** Outcome of an interrupted bench, for the user. */
const OUTCOME = 'not all was measured';
const TIMEOUT_MINUTES = 120;
const ALL_GROUPS_MINUTES = 40;
const NAMES = Object.keys(GROUPS) as readonly Group[];

interface Choices {
  readonly keep?: string | undefined;
  readonly against?: string | undefined;
  readonly only?: string | undefined;
}

interface Options extends Sizes, Choices {
  readonly json?: true;
}

const program = commandLine(
  'bench',
  'Measures the performance that Foyer promises, on this machine, as ratios.\n' +
    'A figure out of reach is not an error. Groups of figures:\n' +
    NAMES.map((name) => `  ${name.padEnd(13)}${GROUPS[name].description}`).join('\n'),
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
  .option('--keep <dir>', 'folder that keeps the snapshots for later runs')
  .option(
    '--against <dir>',
    'another checkout of Foyer with installed dependencies, to compare requests with instead of other servers',
  )
  .option('--only <text>', 'measure only the requests with this text in their names')
  .option('--json', 'print JSON instead of tables')
  .action(bench);

process.exitCode = await runCommand(program, process.argv.slice(2));

async function bench(chosen: Group[], { keep, against, only, json, ...sizes }: Options): Promise<void> {
  const groups = chosen.length === 0 ? NAMES : NAMES.filter((name) => chosen.includes(name));
  if (chosen.length === 0 && !json) {
    console.error(`All groups take about ${ALL_GROUPS_MINUTES} minutes. Single groups: ${NAMES.join(', ')}.`);
  }
  const { rows, kinds, failure } = await measure(groups, sizes, { keep, against, only });
  // Figures taken before a failure are valid.
  if (rows.length > 0) print(groups, sizes, rows, kinds, json === true);
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
  const described = Object.entries(conditions).map(([name, value]) => [
    name,
    typeof value === 'number' ? count(value) : value,
  ]);
  console.log(`${table([left(''), left('')], described)}\n`);
  printRows(rows);
  if (kinds) printKinds(kinds);
}

interface Measured {
  readonly rows: readonly Row[];
  readonly kinds: readonly KindFigure[] | undefined;
  /** Reason that ended the bench early. */
  readonly failure: { readonly reason: unknown } | undefined;
}

/** Measures the groups. However it ends, it leaves no file and no process behind. */
async function measure(
  groups: readonly Group[],
  sizes: Sizes,
  { keep, against, only }: Choices,
): Promise<Measured> {
  using progress = new Progress();
  using interruption = new Interruption(OUTCOME);
  const signal = AbortSignal.any([interruption.signal, timeoutSignal()]);
  const folder = mkdtempSync(join(tmpdir(), 'foyer-bench-'));
  const rows: Row[] = [];
  let kinds: readonly KindFigure[] | undefined;
  let failure: Measured['failure'];
  let done = 0;
  try {
    const context = new BenchContext({
      sizes,
      folder,
      keep,
      against: against === undefined ? undefined : pathToFileURL(`${resolve(against)}/`),
      only,
      signal,
      showProgress: (text) => {
        progress.show(text, groups.length > 1 ? done / groups.length : undefined);
      },
    });
    for (; done < groups.length; done++) {
      const result = await GROUPS[groups[done]].measure(context);
      rows.push(...result.rows);
      kinds ??= result.kinds;
    }
  } catch (reason) {
    failure = { reason };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { rows, kinds, failure };
}

/** Returns a signal that aborts after the timeout. */
function timeoutSignal(): AbortSignal {
  const timeout = new AbortController();
  const reason = new Refused(`not done after ${TIMEOUT_MINUTES} minutes; ${OUTCOME}`);
  setTimeout(() => {
    timeout.abort(reason);
  }, TIMEOUT_MINUTES * 60_000).unref();
  return timeout.signal;
}

function group(description: string, measureRows: (context: BenchContext) => Promise<Row[]>) {
  return {
    description,
    measure: async (context: BenchContext): Promise<GroupResult> => ({ rows: await measureRows(context) }),
  };
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

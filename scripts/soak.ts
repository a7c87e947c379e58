import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import { MAX_WAIT_MS } from '../src/http/connections/connections.ts';
import { Interruption } from './interruption.ts';
import { commandLine, Refused, runCommand } from './run-command.ts';
import { runClients } from './soak/clients.ts';
import { buildContent } from './soak/content.ts';
import { disturb, publish } from './soak/disturbances.ts';
import { SoakReplica, THREADS, type Usage } from './soak/soak-replica.ts';
import { SoakRun } from './soak/soak-run.ts';
import { growthOf } from './soak/trend.ts';
import { Progress } from './terminal/progress.ts';
import { left, right, table } from './terminal/table.ts';
import { count } from './terminal/units.ts';
import { MEGABYTE } from '../src/store/memory/shared-arrays.ts';

const HOUR = 3600;
const MAX_SEED = 0xffff_ffff;
/** Samples of memory and descriptors in a soak. */
const SAMPLES = 200;

/** Time in which the replica notices that all clients have closed their connections, those of suspect networks last. */
const CLOSED_MS = MAX_WAIT_MS + 5000;

/** The warnings and errors that the disturbances of a soak cause. */
const EXPECTED_WARNINGS = [
  'snapshot refused',
  'a worker ended and is replaced',
  'refused requests without a valid key',
];

interface Options {
  readonly seconds: number;
  readonly seed: number;
}

const program = commandLine(
  'soak',
  'Runs a replica under mixed traffic for a time, while snapshots are swapped and refused, keys change,\n' +
    'clients abort or attack, and workers end. Compares every response with the data of its snapshot, and checks that\n' +
    'memory and descriptors stay flat. Exits with 1 when a promise is broken.',
)
  .option('--seconds <n>', 'length of the traffic', wholeNumber(5, 1e6), HOUR)
  .option('--seed <n>', 'seed of the random choices of each client', wholeNumber(0, MAX_SEED), 1)
  .action(soak);

process.exitCode = await runCommand(program, process.argv.slice(2));

async function soak(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-soak-'));
  try {
    await soakIn(folder, options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function soakIn(folder: string, { seconds, seed }: Options): Promise<void> {
  using interruption = new Interruption('the soak is shorter');
  const data = await buildContent(folder, seed);
  let run: SoakRun | undefined;
  const replica = await SoakReplica.start(folder, ({ msg, ...fields }) => {
    if (!EXPECTED_WARNINGS.includes(msg)) run?.fault(`log: ${msg} ${JSON.stringify(fields)}`);
  });
  try {
    const signal = AbortSignal.any([interruption.signal, AbortSignal.timeout(seconds * 1000)]);
    run = new SoakRun(replica, data, seed, signal);
    await Promise.all([replica.logLine('keys live'), publish(run, data.variants[0])]);
    const samples: Usage[] = [];
    await Promise.all([runClients(run), disturb(run), measure(run, samples, seconds)]);
    await check(run, samples);
  } finally {
    await replica.stop();
  }
  if (run.faults > 0) throw new Refused(`${run.faults} faults; the seed is ${seed}`);
}

/** Samples memory and descriptors until the end, and shows the progress. */
async function measure(run: SoakRun, samples: Usage[], seconds: number): Promise<void> {
  using progress = new Progress();
  const began = performance.now();
  await run.repeat('measurement', async () => {
    await run.pause((seconds * 1000) / SAMPLES);
    const usage = await run.replica.usage();
    samples.push(usage);
    const requests = count(run.counts.get('requests') ?? 0);
    const megabytes = Math.round(usage.residentBytes / MEGABYTE);
    progress.show(
      `${run.faults} faults, ${requests} requests, ${megabytes} MB`,
      Math.min(1, (performance.now() - began) / (seconds * 1000)),
    );
  });
}

/** Checks what the whole soak has left, stops the replica, and prints the summary. */
async function check(run: SoakRun, samples: readonly Usage[]): Promise<void> {
  const { replica } = run;
  for (const gauge of ['foyer_connections_open', 'foyer_unsent_bytes']) {
    const deadline = performance.now() + CLOSED_MS;
    while ((await replica.metric(gauge)) !== 0 && performance.now() < deadline) await delay(50);
  }
  const expected = {
    foyer_connections_open: 0,
    foyer_unsent_bytes: 0,
    foyer_threads: THREADS,
    foyer_threads_replaced_total: run.counts.get('ended workers') ?? 0,
    foyer_log_lines_dropped_total: 0,
    foyer_keys_valid: run.credentials.size,
  };
  for (const [name, value] of Object.entries(expected)) {
    const found = await replica.metric(name);
    if (found !== value) run.fault(`${name} is ${found} instead of ${value}`);
  }
  const { code, standardError } = await replica.stop();
  if (code !== 0 || standardError !== '') run.fault(`exit status ${String(code)}: ${standardError}`);

  const counts = Array.from(run.counts, ([what, times]) => [what, count(times)]);
  console.log(table([left(''), right('')], counts));
  const growths = growthOf(samples);
  const rows = growths.map(({ name, first, last }) => [
    name,
    count(Math.round(first)),
    count(Math.round(last)),
  ]);
  console.log(`\n${table([left(''), right('FIRST THIRD'), right('LAST THIRD')], rows)}`);
  for (const { name, first, last, isFlat } of growths) {
    if (!isFlat) run.fault(`${name} grew from ${Math.round(first)} to ${Math.round(last)}`);
  }
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

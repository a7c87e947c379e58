import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { Interruption } from './interruption.ts';
import { Refused, runCommand } from './run-command.ts';
import { runClients } from './soak/clients.ts';
import { buildContent } from './soak/content.ts';
import { disturb, publish } from './soak/disturbances.ts';
import { SoakReplica, THREADS, type Usage } from './soak/soak-replica.ts';
import { SoakRun } from './soak/soak-run.ts';
import { growthOf } from './soak/trend.ts';

const HOUR = 3600;
const MAX_SEED = 0xffff_ffff;
/** Samples of memory and descriptors in a soak, and those between two lines of progress. */
const SAMPLES = 200;
const SAMPLES_PER_LINE = 20;
const MEGABYTE = 1024 * 1024;

/** Time in which the replica notices that all clients have closed their connections. */
const CLOSED_MS = 5000;

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

const program = new Command('soak')
  .description(
    'Runs a replica under mixed traffic for a time, while snapshots are swapped and refused, keys change,\n' +
      'clients abort, and workers end. Compares every response with the data of its snapshot, and checks that\n' +
      'memory and descriptors stay flat. Exits with 1 when a promise is broken.',
  )
  .option('--seconds <n>', 'length of the traffic', wholeNumber(5, 1e6), HOUR)
  .option('--seed <n>', 'seed of the random choices of each client', wholeNumber(0, MAX_SEED), 1)
  .allowExcessArguments(false)
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

/** Samples memory and descriptors until the end, and prints lines of progress. */
async function measure(run: SoakRun, samples: Usage[], seconds: number): Promise<void> {
  const began = performance.now();
  await run.repeat('measurement', async () => {
    await run.pause((seconds * 1000) / SAMPLES);
    const usage = await run.replica.usage();
    if (samples.push(usage) % SAMPLES_PER_LINE !== 0) return;
    const passed = Math.round((performance.now() - began) / 1000);
    const megabytes = Math.round(usage.residentBytes / MEGABYTE);
    console.log(
      `${passed} s: ${['requests', 'walks', 'swaps'].map((what) => `${run.counts.get(what) ?? 0} ${what}`).join(', ')}, ` +
        `${megabytes} MB, ${usage.descriptors} descriptors, ${run.faults} faults`,
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

  for (const [what, count] of run.counts) console.log(`${what.padEnd(32)}${count}`);
  for (const { name, first, last, isFlat } of growthOf(samples)) {
    console.log(`${name.padEnd(32)}${Math.round(first)} in the first third, ${Math.round(last)} in the last`);
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

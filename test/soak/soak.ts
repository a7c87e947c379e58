import { setTimeout as delay } from 'node:timers/promises';
import { Interruption } from '../../scripts/interruption.ts';
import { commandLine, Refused, runCommand, wholeNumber } from '../../scripts/run-command.ts';
import { Progress } from '../../scripts/terminal/progress.ts';
import { left, right, table } from '../../scripts/terminal/table.ts';
import { count } from '../../scripts/terminal/units.ts';
import { MEGABYTE } from '../../src/store/memory/shared-arrays.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { runClients } from './clients.ts';
import { disturb, publish } from './disturbances.ts';
import { growthOf, type Usage } from './growth.ts';
import { buildVariants, SoakRun, startReplica, THREADS } from './soak-run.ts';

const HOUR = 3600;
const MAX_SEED = 0xffff_ffff;
/** Samples of memory and descriptors in a soak. */
const SAMPLES = 200;
/** Time in which the replica notices that all clients have closed their connections. */
const CLOSED_MS = 10_000;

/** Levels of lines that are faults, unless they are expected. */
const FAULT_LEVELS: readonly unknown[] = ['warn', 'error'];
/** The warnings and errors that the disturbances of a soak cause. */
const EXPECTED_WARNINGS = ['snapshot refused', 'a worker ended and is replaced'];

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

async function soak({ seconds, seed }: Options): Promise<void> {
  using interruption = new Interruption('the soak is shorter');
  await withFolder(async (inFolder) => {
    const variants = await buildVariants(inFolder, seed);
    await using replica = await startReplica(inFolder);
    const signal = AbortSignal.any([interruption.signal, AbortSignal.timeout(seconds * 1000)]);
    const run = new SoakRun(inFolder, replica, variants, seed, signal);
    const keysLive = replica.waitForLog({ msg: 'keys live', validKeys: run.credentials.size });
    await Promise.all([keysLive, publish(run, variants[0])]);
    const [samples] = await Promise.all([measure(run, seconds), runClients(run), disturb(run)]);
    await check(run, samples);
    if (run.faults > 0) throw new Refused(`${run.faults} faults; the seed is ${seed}`);
  });
}

/** Samples memory and descriptors until the end, and shows the progress. */
async function measure(run: SoakRun, seconds: number): Promise<Usage[]> {
  using progress = new Progress();
  const { replica } = run;
  const samples: Usage[] = [];
  const began = performance.now();
  await run.repeat('measurement', async () => {
    await run.pause((seconds * 1000) / SAMPLES);
    const megabytes = (await replica.metric('process_resident_memory_bytes')) / MEGABYTE;
    const openFiles = await replica.metric('process_open_fds');
    samples.push({
      'resident memory, MB': megabytes,
      'heap of the main thread, MB': (await replica.metric('nodejs_heap_size_used_bytes')) / MEGABYTE,
      'descriptors without connections': openFiles - (await replica.metric('foyer_connections_open')),
    });
    progress.show(
      `${run.faults} faults, ${count(run.counts.get('requests') ?? 0)} requests, ${Math.round(megabytes)} MB`,
      Math.min(1, (performance.now() - began) / (seconds * 1000)),
    );
  });
  return samples;
}

/** Checks what the whole soak has left, stops the replica, and prints the summary. */
async function check(run: SoakRun, samples: readonly Usage[]): Promise<void> {
  const { replica } = run;
  const expected = {
    foyer_connections_open: 0,
    foyer_unsent_bytes: 0,
    foyer_threads: THREADS,
    foyer_threads_replaced_total: run.counts.get('ended workers') ?? 0,
    foyer_log_lines_dropped_total: 0,
    foyer_keys_valid: run.credentials.size,
  };
  const deadline = performance.now() + CLOSED_MS;
  for (const [name, value] of Object.entries(expected)) {
    while ((await replica.metric(name)) !== value && performance.now() < deadline) await delay(50);
    const found = await replica.metric(name);
    if (found !== value) run.fault(`${name} is ${found} instead of ${value}`);
  }
  replica.signal('SIGTERM');
  const { code, stderr } = await replica.ended;
  if (code !== 0 || stderr !== '') run.fault(`exit status ${String(code)}: ${stderr}`);
  for (const { level, msg, ...fields } of replica.log)
    if (FAULT_LEVELS.includes(level) && !EXPECTED_WARNINGS.includes(String(msg)))
      run.fault(`log: ${String(msg)} ${JSON.stringify(fields)}`);

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

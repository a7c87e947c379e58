import { setTimeout as pause } from 'node:timers/promises';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { format, greatest, median, type Row, rowOf } from '../figures.ts';
import { type Peak, PeakMeter } from '../load/meters.ts';
import { type Target, TICKET_TRAFFIC, ticketTargets } from '../load/traffic.ts';
import { type ReplicaFiles, ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Time after a load until memory is measured: the memory of its requests is released by then. */
const SETTLE_MS = 1000;
const MAX_THREADS = 3;

/** Measures the throughput that a second thread adds, and the memory of each thread. */
export async function measureThreads(context: BenchContext): Promise<Row[]> {
  const snapshot = await context.snapshot(shapeOf(context.sizes.tickets));
  using content = new SnapshotContent(snapshot);
  const files = context.replicaFiles(snapshot);
  const targets = ticketTargets(content);
  return [await measureTwoThreads(context, files, targets), await measureMemory(context, files, targets)];
}

async function measureTwoThreads(
  context: BenchContext,
  files: ReplicaFiles,
  targets: readonly Target[],
): Promise<Row> {
  const { signal } = context;
  const { rounds, seconds } = context.sizes;
  await using meter = new PeakMeter(signal);
  await using one = await ReplicaProcess.start(files, { THREADS: '1' }, signal);
  await using two = await ReplicaProcess.start(files, { THREADS: '2' }, signal);
  const measure = (server: ReplicaProcess): Promise<Peak> =>
    meter.measure({ traffic: server.traffic(targets), server }, seconds);
  const pairs: { one: Peak; two: Peak }[] = [];
  for (let round = 0; round <= rounds; round++) {
    context.showProgress(`two threads against one: round ${round} of ${rounds}`);
    const pair = { one: await measure(one), two: await measure(two) };
    // Round 0 is the warm-up.
    if (round > 0) pairs.push(pair);
  }
  const perSecond = (replica: 'one' | 'two') =>
    Math.round(median(pairs.map((pair) => pair[replica].perSecond)));
  const busy = greatest(pairs.map(({ two: { generatorBusy } }) => generatorBusy));
  const { threads } = await two.probe();
  return rowOf({
    name: 'two threads against one',
    note:
      `${perSecond('two')} against ${perSecond('one')} requests a second for ${TICKET_TRAFFIC}; ` +
      `${threads} threads answered; the load generator, on the same processors, used at most ` +
      `${Math.round(busy * 100)} % of one`,
    unit: 'times',
    reach: { atLeast: 1.25 },
    rounds: pairs.map(({ one, two }) => two.perSecond / one.perSecond),
    summarize: median,
  });
}

async function measureMemory(
  context: BenchContext,
  files: ReplicaFiles,
  targets: readonly Target[],
): Promise<Row> {
  const { signal } = context;
  const { rounds, seconds } = context.sizes;
  await using meter = new PeakMeter(signal);
  const residentMegabytes = async (threads: number): Promise<number> => {
    await using server = await ReplicaProcess.start(files, { THREADS: String(threads) }, signal);
    await meter.measure({ traffic: server.traffic(targets), server }, seconds);
    await pause(SETTLE_MS, undefined, { signal });
    return (await server.probe()).residentBytes / 1e6;
  };
  const series: number[][] = [];
  for (let round = 1; round <= rounds; round++) {
    context.showProgress(`memory of threads: round ${round} of ${rounds}`);
    const resident: number[] = [];
    for (let threads = 1; threads <= MAX_THREADS; threads++) resident.push(await residentMegabytes(threads));
    series.push(resident);
  }
  const medians = Array.from({ length: MAX_THREADS }, (_, i) =>
    format(median(series.map((resident) => resident[i])), 'MB'),
  );
  return rowOf({
    name: 'resident memory of each further thread',
    note: `${medians.join(', ')} with 1 to ${MAX_THREADS} threads, after a load, with the snapshot`,
    unit: 'MB',
    reach: { atMost: 60 },
    rounds: series.map((resident) => (resident[MAX_THREADS - 1] - resident[0]) / (MAX_THREADS - 1)),
    summarize: median,
  });
}

import { setTimeout as pause } from 'node:timers/promises';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { format, greatest, median, type Row, rowOf, sum } from '../figures.ts';
import { CONNECTIONS, PeakMeter, SteadyMeter } from '../load/meters.ts';
import type { SteadyReport } from '../load/steady-load.ts';
import { TICKET_TRAFFIC, ticketTargets } from '../load/traffic.ts';
import { type ReplicaFiles, ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Short, so that little of the measured time is a wait for the next poll. */
const POLL_SECONDS = '0.05';

const WARM_UP_SECONDS = 2;
const PEAK_SECONDS = 3;
const SHARE_OF_PEAK = 0.45;
/** Time after a swap in which its after-effects, such as freeing memory, may still stall the process. */
const AFTERMATH_MS = 1000;

/** Replaced snapshots are retained for walks, by default long enough to be counted as growth here. */
const RETAIN_SECONDS = 0.1;
/** Time after a swap until memory is measured: the replaced snapshot is released by then. */
const SETTLE_MS = 400;
/** Swaps after which memory counts as that of a warm process. */
export const FIRST_SWAPS = 3;
/** Number of last swaps of which the median counts: a single sample may come before or after memory is freed. */
const LAST_SWAPS = 10;

interface Round {
  readonly requests: SteadyReport;
  readonly longestStallMs: number;
  readonly longestWorkMs: number;
  readonly ms: number;
}

/** Measures requests, event loop and memory while snapshots go live. */
export async function measureRefresh(context: BenchContext): Promise<Row[]> {
  const shape = shapeOf(context.sizes.tickets);
  const first = await context.snapshot(shape);
  const files = context.replicaFiles(first, await context.snapshot({ ...shape, isVariant: true }));
  return [...(await refreshUnderLoad(context, files)), await refreshMemory(context, files)];
}

/** Compares a load during which a snapshot loads and goes live with the same load without. */
async function refreshUnderLoad(context: BenchContext, files: ReplicaFiles): Promise<Row[]> {
  const { signal } = context;
  const { rounds } = context.sizes;
  const environment = { SNAPSHOT_POLL_SECONDS: POLL_SECONDS, OVERLOAD_DELAY_MS: '' };
  await using replica = await ReplicaProcess.start(files, environment, signal);
  using content = new SnapshotContent(files.snapshots[0]);
  const traffic = replica.traffic(ticketTargets(content));
  context.showProgress('peak');
  await using meter = new PeakMeter(signal);
  // The overload check has its default limit here, and may refuse requests at the peak of a slow machine.
  await meter.measure({ traffic, server: replica }, WARM_UP_SECONDS, true);
  const peak = await meter.measure({ traffic, server: replica }, PEAK_SECONDS, true);
  const perSecond = Math.round(peak.perSecond * SHARE_OF_PEAK);
  await using load = new SteadyMeter(signal);
  await load.start({ ...traffic, perSecond, connections: CONNECTIONS });
  await pause(AFTERMATH_MS, undefined, { signal });

  const measureDuring = async (action: () => Promise<unknown>): Promise<Round> => {
    await Promise.all([load.report(), replica.probe()]);
    const startedAt = performance.now();
    await action();
    const ms = performance.now() - startedAt;
    const requests = await load.report();
    await pause(AFTERMATH_MS, undefined, { signal });
    const { longestStallMs, longestWorkMs } = await replica.probe();
    return { requests, longestStallMs, longestWorkMs, ms };
  };
  const withSwap: Round[] = [];
  const withoutSwap: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    context.showProgress(`refresh: round ${round} of ${rounds} at ${perSecond} requests a second`);
    const swapped = await measureDuring(() => replica.swap());
    withSwap.push(swapped);
    withoutSwap.push(await measureDuring(() => pause(swapped.ms, undefined, { signal })));
  }

  const p99 = (series: readonly Round[]) =>
    format(median(series.map(({ requests }) => requests.p99Ms)), 'ms');
  const stalls = (series: readonly Round[]) => series.map(({ longestStallMs }) => longestStallMs);
  const works = (series: readonly Round[]) => series.map(({ longestWorkMs }) => longestWorkMs);
  const seconds = (median(withSwap.map(({ ms }) => ms)) / 1000).toFixed(1);
  return [
    rowOf({
      name: 'request p99 while a snapshot loads and goes live',
      note:
        `against the same load without: ${p99(withSwap)} against ${p99(withoutSwap)}; ${perSecond} requests a second, ` +
        `${Math.round(SHARE_OF_PEAK * 100)} % of the peak, for ${TICKET_TRAFFIC}; live ${seconds} s after the rename`,
      unit: 'times',
      reach: { atMost: 2 },
      rounds: withSwap.map(({ requests }, i) => requests.p99Ms / withoutSwap[i].requests.p99Ms),
      summarize: median,
    }),
    rowOf({
      name: 'longest stall of the serving thread in that time',
      note: `and in the second after it; without a swap: ${format(greatest(stalls(withoutSwap)), 'ms')}`,
      unit: 'ms',
      reach: { atMost: 20 },
      rounds: stalls(withSwap),
      summarize: greatest,
    }),
    rowOf({
      name: 'most processor time of that thread between two turns',
      note:
        `the thread's own part of a stall, without waits for a busy processor; ` +
        `without a swap: ${format(greatest(works(withoutSwap)), 'ms')}`,
      unit: 'ms',
      reach: { atMost: 20 },
      rounds: works(withSwap),
      summarize: greatest,
    }),
    rowOf({
      name: 'requests not answered with 200 in that time',
      note: `of ${sum(withSwap.map(({ requests }) => requests.requests))}`,
      unit: 'requests',
      reach: { atMost: 0 },
      rounds: withSwap.map(({ requests }) => requests.failed),
      summarize: sum,
    }),
  ];
}

/** Compares the memory of a replica without requests after many swaps with that after a few. */
async function refreshMemory(context: BenchContext, files: ReplicaFiles): Promise<Row> {
  const { signal } = context;
  const { swaps } = context.sizes;
  const environment = {
    SNAPSHOT_POLL_SECONDS: POLL_SECONDS,
    SNAPSHOT_RETAIN_SECONDS: String(RETAIN_SECONDS),
  };
  await using replica = await ReplicaProcess.start(files, environment, signal);
  const resident: number[] = [];
  for (let i = 1; i <= swaps; i++) {
    context.showProgress(`swap ${i} of ${swaps}`);
    await replica.swap();
    await pause(SETTLE_MS, undefined, { signal });
    resident.push((await replica.probe()).residentBytes);
  }
  const first = resident[FIRST_SWAPS - 1];
  const later = resident.slice(FIRST_SWAPS);
  const last = (values: readonly number[]) => median(values.slice(-LAST_SWAPS));
  return rowOf({
    name: `resident memory after ${swaps} swaps`,
    note:
      `against after ${FIRST_SWAPS}: ${format(last(later) / 1e6, 'MB')} against ${format(first / 1e6, 'MB')}, at most ` +
      `${format(greatest(later) / 1e6, 'MB')} in between; without requests, SNAPSHOT_RETAIN_SECONDS=${RETAIN_SECONDS}`,
    unit: 'times',
    reach: { atMost: 1.1 },
    rounds: later.map((bytes) => bytes / first),
    summarize: last,
  });
}

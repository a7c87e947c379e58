import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../bench-context.ts';
import { buildSuccessor, DISTRIBUTIONS } from '../changed-tickets.ts';
import { CONNECTIONS, LoadGenerator } from '../load/load-generator.ts';
import { MIXED_TRAFFIC, mixedTargets } from '../load/request-kinds.ts';
import { send } from '../load/traffic.ts';
import { format, greatest, median, ratioRow, type Row, rowOf, sum } from '../rows.ts';

/** Short, so that little of the measured time is a wait for the next poll. */
const POLL_SECONDS = '0.05';

const WARM_UP_SECONDS = 2;
const PEAK_SECONDS = 3;
const SHARE_OF_PEAK = 0.45;
/** Time after a swap in which its after-effects, such as freeing memory, may still stall the process. */
const AFTERMATH_MS = 1000;

/** Replaced snapshots are retained for walks, by default long enough to be counted as growth here. */
const RETAIN_SECONDS = '0.1';
/** Time after a swap until memory is measured: the replaced snapshot is released by then. */
const SETTLE_MS = 400;
/** Swaps after which memory counts as that of a warm process. */
export const FIRST_SWAPS = 3;
/** Number of last swaps of which the median counts: a single sample may come before or after memory is freed. */
const LAST_SWAPS = 10;
/** Numbers of walks that are kept during a refresh, each over the tickets and the orders of another snapshot. */
const WALKS = [
  { walks: 0, atMost: 1.2 },
  { walks: 4, atMost: 1.5 },
  { walks: 10, atMost: 1.95 },
] as const;
const MOST_WALKS = greatest(WALKS.map(({ walks }) => walks));

/** Measures requests, event loop and memory while snapshots go live. */
export async function measureRefresh(context: BenchContext): Promise<Row[]> {
  const variant = await context.snapshot({ ...context.usualShape, isVariant: true });
  const snapshots = [await context.snapshot(), variant];
  return [
    ...(await refreshUnderLoad(context, snapshots)),
    await refreshMemory(context, snapshots),
    ...(await refreshPeaks(context)),
  ];
}

/** Compares a load during which a snapshot loads and goes live with the same load without. */
async function refreshUnderLoad(context: BenchContext, snapshots: readonly string[]): Promise<Row[]> {
  const { signal } = context.options;
  const environment = { SNAPSHOT_POLL_SECONDS: POLL_SECONDS, OVERLOAD_DELAY_MS: '' };
  await using replica = await context.startReplica({ snapshots, environment });
  const traffic = replica.traffic(mixedTargets(snapshots[0]));
  await using generator = new LoadGenerator(signal);
  context.options.showProgress('refresh: peak');
  // The overload check has its default limit here, and may refuse requests at the peak of a slow machine.
  await generator.measurePeak(replica, traffic, WARM_UP_SECONDS, { mayRefuse: true });
  const peak = await generator.measurePeak(replica, traffic, PEAK_SECONDS, { mayRefuse: true });
  const perSecond = Math.round(peak.perSecond * SHARE_OF_PEAK);
  await generator.start({ ...traffic, perSecond, connections: CONNECTIONS });
  await pause(AFTERMATH_MS, undefined, { signal });

  const measureDuring = async (action: Promise<unknown>) => {
    await Promise.all([generator.report(), replica.probe()]);
    const startedAt = performance.now();
    await action;
    const ms = performance.now() - startedAt;
    const report = await generator.report();
    await pause(AFTERMATH_MS, undefined, { signal });
    return { ...report, stallMs: (await replica.probe()).longestStallMs, ms };
  };
  const rounds = await context.rounds(`refresh at ${perSecond} requests a second`, async () => {
    const swap = await measureDuring(replica.swap());
    return { swap, none: await measureDuring(pause(swap.ms, undefined, { signal })) };
  });
  const seconds = median(rounds.map(({ swap }) => swap.ms / 1000));
  const longestWithout = greatest(rounds.map(({ none }) => none.stallMs));
  return [
    ratioRow({
      name: 'request p99 while a snapshot loads and goes live',
      note:
        `the latter without a snapshot; ${perSecond} requests a second, ${Math.round(SHARE_OF_PEAK * 100)} % of the ` +
        `peak, for ${MIXED_TRAFFIC}; live ${format(seconds, 's')} after the rename`,
      unit: 'ms',
      reach: { atMost: 2 },
      pairs: rounds.map(({ swap, none }) => [swap.p99Ms, none.p99Ms]),
    }),
    rowOf({
      name: 'longest stall of the serving thread in that time',
      note: `and in the second after it; without a snapshot: ${format(longestWithout, 'ms')}`,
      unit: 'ms',
      reach: { atMost: 20 },
      rounds: rounds.map(({ swap }) => swap.stallMs),
      summarize: greatest,
    }),
    rowOf({
      name: 'requests not answered with 200 in that time',
      note: `of ${sum(rounds.map(({ swap }) => swap.due))}`,
      unit: 'requests',
      reach: { atMost: 0 },
      rounds: rounds.map(({ swap }) => swap.failed + swap.refused),
      summarize: sum,
    }),
  ];
}

/** Compares the memory of a replica without requests after many swaps with that after a few. */
async function refreshMemory(context: BenchContext, snapshots: readonly string[]): Promise<Row> {
  const { swaps } = context.options.sizes;
  const environment = { SNAPSHOT_POLL_SECONDS: POLL_SECONDS, SNAPSHOT_RETAIN_SECONDS: RETAIN_SECONDS };
  await using replica = await context.startReplica({ snapshots, environment });
  const resident: number[] = [];
  for (let i = 1; i <= swaps; i++) {
    context.options.showProgress(`swap ${i} of ${swaps}`);
    await replica.swap();
    await pause(SETTLE_MS, undefined, { signal: context.options.signal });
    resident.push((await replica.probe()).residentBytes);
  }
  const first = resident[FIRST_SWAPS - 1];
  const later = resident.slice(FIRST_SWAPS);
  const last = (values: readonly number[]) => median(values.slice(-LAST_SWAPS));
  const [lastMb, firstMb, mostMb] = [last(later), first, greatest(later)].map((bytes) =>
    format(bytes / 1e6, 'MB'),
  );
  return rowOf({
    name: `resident memory after ${swaps} swaps`,
    note:
      `against after ${FIRST_SWAPS}: ${lastMb} against ${firstMb}, at most ${mostMb} in between; without requests, ` +
      `SNAPSHOT_RETAIN_SECONDS=${RETAIN_SECONDS}`,
    unit: 'times',
    reach: { atMost: 1.1 },
    rounds: later.map((bytes) => bytes / first),
    summarize: last,
  });
}

/** Compares the peak of the memory during a refresh of 1 % of the tickets with the memory before any refresh. */
async function refreshPeaks(context: BenchContext): Promise<Row[]> {
  const { showProgress, folder, signal } = context.options;
  const rows: Row[] = [];
  for (const distribution of DISTRIBUTIONS) {
    const files = mkdtempSync(join(folder, 'refreshes-'));
    const snapshots = [await context.snapshot()];
    for (let seed = 0; seed <= MOST_WALKS; seed++) {
      showProgress(`building refresh ${seed + 1} of ${MOST_WALKS + 1}, ${distribution.name}`);
      const output = join(files, `${seed}.sqlite`);
      const count = context.usualShape.tickets / 100;
      await buildSuccessor(snapshots[seed], output, { distribution, count, seed }, signal);
      snapshots.push(output);
    }
    const rounds = await context.rounds(`peak of memory, ${distribution.name}`, () =>
      peaksOfRefreshes(context, snapshots),
    );
    rmSync(files, { recursive: true });
    rows.push(
      ...WALKS.map(({ walks, atMost }) =>
        ratioRow({
          name: `peak of memory in a refresh of 1 %, ${distribution.name}, with ${walks} walks`,
          note: 'resident memory, against that of the first snapshot; walks are on earlier ones; without other requests',
          unit: 'MB',
          reach: { atMost },
          pairs: rounds.map(({ before, peaks }) => [peaks[walks] / 1e6, before / 1e6]),
        }),
      ),
    );
  }
  return rows;
}

/**
 * Measures the memory before any refresh, and its peak during each one. A walk begins on each snapshot before the next
 * one goes live, so that refresh `i`, from 0, has walks on `i` earlier snapshots.
 */
async function peaksOfRefreshes(context: BenchContext, snapshots: readonly string[]) {
  const { signal } = context.options;
  await using replica = await context.startReplica({
    snapshots,
    environment: { SNAPSHOT_POLL_SECONDS: POLL_SECONDS },
  });
  await pause(AFTERMATH_MS, undefined, { signal });
  const before = (await replica.probe()).residentBytes;
  const peaks: number[] = [];
  for (let i = 1; i < snapshots.length; i++) {
    for (const list of ['tickets', 'orders'])
      await (await send(replica, { path: `/v1/${list}` })).arrayBuffer();
    await replica.probe();
    await replica.swap();
    await pause(AFTERMATH_MS, undefined, { signal });
    peaks.push((await replica.probe()).peakBytes);
  }
  return { before, peaks };
}

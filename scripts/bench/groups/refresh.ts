import { setTimeout as pause } from 'node:timers/promises';
import { inProportion, type Stage } from '../bench-context.ts';
import { greatest, median, type Row, rowOf, show, sum } from '../figures.ts';
import { CONNECTIONS, PeakMeter, SteadyMeter } from '../load/meters.ts';
import type { SteadyAnswer } from '../load/steady-load.ts';
import { TICKET_TRAFFIC, ticketTargets } from '../load/traffic.ts';
import { type ReplicaFiles, ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Requests, event loop and memory while snapshots go live. */
export async function measureRefresh(stage: Stage): Promise<Row[]> {
  const shape = inProportion(stage.sizes.tickets);
  const first = await stage.snapshot(shape);
  const files = stage.files(first, await stage.snapshot({ ...shape, isOther: true }));
  return [...(await refreshUnderLoad(stage, files)), await refreshMemory(stage, files)];
}

/** For SNAPSHOT_POLL_SECONDS: a new snapshot is noticed soon, so that little of what is measured is a wait. */
export const POLL_SECONDS = '0.05';

const WARM_UP_SECONDS = 2;
const PEAK_SECONDS = 3;
const SHARE_OF_PEAK = 0.45;
/** What a swap leaves behind, such as memory to be freed, may hold the process up a little later. */
const AFTERMATH_MS = 1000;

interface Round {
  readonly requests: SteadyAnswer;
  readonly longestStallMs: number;
  readonly longestWorkMs: number;
  readonly ms: number;
}

/** How requests fare while a snapshot loads and goes live beside them, against the same load without. */
export async function refreshUnderLoad(stage: Stage, files: ReplicaFiles): Promise<Row[]> {
  const { signal } = stage;
  const { rounds } = stage.sizes;
  const environment = { SNAPSHOT_POLL_SECONDS: POLL_SECONDS, OVERLOAD_DELAY_MS: '' };
  await using replica = await ReplicaProcess.start(files, environment, signal);
  using content = new SnapshotContent(files.snapshots[0]);
  const targets = ticketTargets(content);
  const traffic = { port: replica.port, credential: files.credential, targets, status: 200 };
  stage.show('peak');
  await using meter = new PeakMeter(signal);
  // By default an overload is refused, and this is one.
  await meter.measure({ traffic, server: replica }, WARM_UP_SECONDS, true);
  const peak = await meter.measure({ traffic, server: replica }, PEAK_SECONDS, true);
  const perSecond = Math.round(peak.perSecond * SHARE_OF_PEAK);
  await using load = new SteadyMeter(signal);
  await load.begin({ ...traffic, perSecond, connections: CONNECTIONS });
  await pause(AFTERMATH_MS, undefined, { signal });

  const during = async (what: () => Promise<unknown>): Promise<Round> => {
    await Promise.all([load.tell(), replica.probe()]);
    const began = performance.now();
    await what();
    const ms = performance.now() - began;
    const requests = await load.tell();
    await pause(AFTERMATH_MS, undefined, { signal });
    const { longestStallMs, longestWorkMs } = await replica.probe();
    return { requests, longestStallMs, longestWorkMs, ms };
  };
  const swapped: Round[] = [];
  const still: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    stage.show(`refresh: round ${round} of ${rounds} at ${perSecond} requests a second`);
    const beside = await during(() => replica.swap());
    swapped.push(beside);
    still.push(await during(() => pause(beside.ms, undefined, { signal })));
  }

  const p99 = (of: readonly Round[]) => show(median(of.map(({ requests }) => requests.p99Ms)), 'ms');
  const stalls = (of: readonly Round[]) => of.map(({ longestStallMs }) => longestStallMs);
  const works = (of: readonly Round[]) => of.map(({ longestWorkMs }) => longestWorkMs);
  const seconds = (median(swapped.map(({ ms }) => ms)) / 1000).toFixed(1);
  return [
    rowOf({
      name: 'request p99 while a snapshot loads and goes live',
      note:
        `against the same load without: ${p99(swapped)} against ${p99(still)}; ${perSecond} requests a second, ` +
        `${Math.round(SHARE_OF_PEAK * 100)} % of the peak, for ${TICKET_TRAFFIC}; live ${seconds} s after the rename`,
      unit: 'times',
      reach: { atMost: 2 },
      rounds: swapped.map(({ requests }, i) => requests.p99Ms / still[i].requests.p99Ms),
      sumUp: median,
    }),
    rowOf({
      name: 'longest stall of the serving thread in that time',
      note: `and in the second after it; without a swap: ${show(greatest(stalls(still)), 'ms')}`,
      unit: 'ms',
      reach: { atMost: 20 },
      rounds: stalls(swapped),
      sumUp: greatest,
    }),
    rowOf({
      name: 'most processor time of that thread between two turns',
      note:
        `what of a stall is its own, and not a wait for a processor that others have; ` +
        `without a swap: ${show(greatest(works(still)), 'ms')}`,
      unit: 'ms',
      reach: { atMost: 20 },
      rounds: works(swapped),
      sumUp: greatest,
    }),
    rowOf({
      name: 'requests not answered with 200 in that time',
      note: `of ${sum(swapped.map(({ requests }) => requests.requests))}`,
      unit: 'requests',
      reach: { atMost: 0 },
      rounds: swapped.map(({ requests }) => requests.failed),
      sumUp: sum,
    }),
  ];
}

/** A replaced snapshot is kept for the walks that began on it, by default so long that it would be counted here. */
const RETAIN_SECONDS = 0.1;
/** Memory is looked at this long after a snapshot went live: what was replaced has been let go of by then. */
const SETTLE_MS = 400;
/** Swaps after which memory counts as that of a process that has begun. */
export const FIRST_SWAPS = 3;
/** Of so many swaps at the end the median counts: one look may come before or after memory is freed. */
const LAST_SWAPS = 10;

/** What a replica without requests holds after many swaps against after a few. */
export async function refreshMemory(stage: Stage, files: ReplicaFiles): Promise<Row> {
  const { swaps } = stage.sizes;
  const environment = {
    SNAPSHOT_POLL_SECONDS: POLL_SECONDS,
    SNAPSHOT_RETAIN_SECONDS: String(RETAIN_SECONDS),
  };
  await using replica = await ReplicaProcess.start(files, environment, stage.signal);
  const resident: number[] = [];
  for (let i = 1; i <= swaps; i++) {
    stage.show(`swap ${i} of ${swaps}`);
    await replica.swap();
    await pause(SETTLE_MS, undefined, { signal: stage.signal });
    resident.push((await replica.probe()).residentBytes);
  }
  const first = resident[FIRST_SWAPS - 1];
  const later = resident.slice(FIRST_SWAPS);
  const last = (values: readonly number[]) => median(values.slice(-LAST_SWAPS));
  return rowOf({
    name: `resident memory after ${swaps} swaps`,
    note:
      `against after ${FIRST_SWAPS}: ${show(last(later) / 1e6, 'MB')} against ${show(first / 1e6, 'MB')}, at most ` +
      `${show(greatest(later) / 1e6, 'MB')} in between; without requests, SNAPSHOT_RETAIN_SECONDS=${RETAIN_SECONDS}`,
    unit: 'times',
    reach: { atMost: 1.1 },
    rounds: later.map((bytes) => bytes / first),
    sumUp: last,
  });
}

import { setTimeout as pause } from 'node:timers/promises';
import { CONNECTIONS, PeakMeter } from '../peak.ts';
import { type ReplicaFiles, ReplicaProcess } from '../replica-process.ts';
import { type Row, rowOf, show } from '../row.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import type { Stage } from '../stage.ts';
import { greatest, median, sum } from '../statistics.ts';
import type { SteadyAnswer } from '../steady-load.ts';
import { SteadyMeter } from '../steady.ts';
import { TICKET_TRAFFIC, ticketTargets } from '../ticket-traffic.ts';
import { POLL_SECONDS } from './poll-seconds.ts';

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

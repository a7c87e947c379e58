import { setTimeout as pause } from 'node:timers/promises';
import { Child } from './child.ts';
import type { PeakAnswer, PeakLoad } from './peak-load.ts';
import type { RefreshStage } from './refresh-stage.ts';
import { ReplicaProcess } from './replica-process.ts';
import { rowOf, show } from './row.ts';
import type { Row } from './row.ts';
import { greatest, median, sum } from './statistics.ts';
import type { SteadyAnswer, SteadyLoad } from './steady-load.ts';
import { TICKET_TRAFFIC, ticketTraffic } from './ticket-traffic.ts';
import type { Traffic } from './traffic.ts';

const PEAK_LOAD = new URL('./peak-load.ts', import.meta.url);
const STEADY_LOAD = new URL('./steady-load.ts', import.meta.url);

const CONNECTIONS = 64;
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
export async function refreshUnderLoad(
  stage: RefreshStage,
  rounds: number,
  onProgress: (text: string) => void,
): Promise<Row[]> {
  const { signal } = stage;
  await using replica = await ReplicaProcess.start(stage.files, {}, stage.signal);
  const traffic = await ticketTraffic(replica.port, stage.credential);
  onProgress('peak');
  await peakOf(traffic, WARM_UP_SECONDS, signal);
  const peak = await peakOf(traffic, PEAK_SECONDS, signal);
  const perSecond = Math.round(peak * SHARE_OF_PEAK);
  const steady: SteadyLoad = { ...traffic, perSecond, connections: CONNECTIONS };
  await using load = new Child<SteadyAnswer>(STEADY_LOAD, signal, [JSON.stringify(steady)]);
  await pause(AFTERMATH_MS, undefined, { signal });

  const during = async (what: () => Promise<unknown>): Promise<Round> => {
    await Promise.all([load.ask(), replica.probe()]);
    const began = performance.now();
    await what();
    const ms = performance.now() - began;
    const requests = await load.ask();
    await pause(AFTERMATH_MS, undefined, { signal });
    const { longestStallMs, longestWorkMs } = await replica.probe();
    return { requests, longestStallMs, longestWorkMs, ms };
  };
  const swapped: Round[] = [];
  const still: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    onProgress(`round ${round} of ${rounds} at ${perSecond} requests a second`);
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

/** Requests a second. */
async function peakOf(traffic: Traffic, seconds: number, signal: AbortSignal): Promise<number> {
  const load: PeakLoad = { ...traffic, seconds, connections: CONNECTIONS };
  await using process = new Child<PeakAnswer>(PEAK_LOAD, signal, [JSON.stringify(load)]);
  return (await process.ask()).perSecond;
}

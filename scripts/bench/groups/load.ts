import { setTimeout as pause } from 'node:timers/promises';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import type { BenchContext } from '../bench-context.ts';
import { format, median, type Row, rowOf, sum } from '../figures.ts';
import { PeakMeter } from '../load/meters.ts';
import { ticketTargets } from '../load/traffic.ts';
import { Child } from '../servers/child.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import type { BaselineReport } from './baseline-load.ts';

const BASELINE = new URL('./baseline-load.ts', import.meta.url);
/** Time after which the memory that only the load needed is released. */
const SETTLE_MS = 2000;

interface Round {
  readonly baselineMs: number;
  readonly loadMs: number;
  readonly residentBytes: number;
}

/** Measures the load of the large snapshot, and the memory after it. */
export async function measureLoad(context: BenchContext): Promise<Row[]> {
  const { signal } = context;
  const { rounds, seconds, largeTickets: tickets, events } = context.sizes;
  const snapshot = await context.snapshot({ tickets, events });
  const files = context.replicaFiles(snapshot);
  using content = new SnapshotContent(snapshot);
  const targets = ticketTargets(content);
  await using meter = new PeakMeter(signal);

  const loadBaseline = async (): Promise<BaselineReport> => {
    await using process = new Child<string, BaselineReport>(BASELINE, signal);
    return await process.call(snapshot);
  };
  const loadReplica = async (): Promise<Omit<Round, 'baselineMs'>> => {
    await using server = await ReplicaProcess.start(files, {}, signal);
    await meter.measure({ traffic: server.traffic(targets), server }, seconds);
    await pause(SETTLE_MS, undefined, { signal });
    return { loadMs: server.loadMs, residentBytes: (await server.probe()).residentBytes };
  };
  context.showProgress('load: reading the file into the page cache');
  const { bytes } = await loadBaseline();
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    context.showProgress(`load: round ${round} of ${rounds}`);
    measured.push({ baselineMs: (await loadBaseline()).ms, ...(await loadReplica()) });
  }

  const secondsOf = (part: 'baselineMs' | 'loadMs') =>
    format(median(measured.map((round) => round[part])) / 1000, 's');
  const jsonBytes = recordBytesOf(snapshot);
  const resident = median(measured.map(({ residentBytes }) => residentBytes));
  return [
    rowOf({
      name: `load of ${tickets} tickets, against reading, copying and digesting the file`,
      note:
        `until live, according to the log: ${secondsOf('loadMs')}; a loop that reads all runs by iterate(), copies the ` +
        `records into shared memory and digests all ${format(bytes / 1e6, 'MB')}: ${secondsOf('baselineMs')}; each in a ` +
        'new process, with the file in the page cache',
      unit: 'times',
      reach: { atMost: 2 },
      rounds: measured.map(({ loadMs, baselineMs }) => loadMs / baselineMs),
      summarize: median,
    }),
    rowOf({
      name: 'resident memory against the JSON of the records',
      note:
        `${format(resident / 1e6, 'MB')} of the process, with indexes and threads, after load and requests, ` +
        `against ${format(jsonBytes / 1e6, 'MB')}`,
      unit: 'times',
      reach: { atMost: 1.3 },
      rounds: measured.map(({ residentBytes }) => residentBytes / jsonBytes),
      summarize: median,
    }),
  ];
}

function recordBytesOf(snapshot: string): number {
  const runs = inspectSnapshot(snapshot).organizations.flatMap(({ runs }) => Object.values(runs).flat());
  return sum(runs.map(({ recordBytes }) => recordBytes));
}

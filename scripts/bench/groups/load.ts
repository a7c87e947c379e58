import { setTimeout as pause } from 'node:timers/promises';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import type { Stage } from '../bench-context.ts';
import { median, type Row, rowOf, show, sum } from '../figures.ts';
import { PeakMeter } from '../load/meters.ts';
import { ticketTargets } from '../load/traffic.ts';
import { Child } from '../servers/child.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import type { TouchAnswer } from './baseline-load.ts';

const TOUCH = new URL('./baseline-load.ts', import.meta.url);
/** What the load left behind is given back by then. */
const SETTLE_MS = 2000;

interface Round {
  readonly touchMs: number;
  readonly loadMs: number;
  readonly residentBytes: number;
}

/** What it takes to load the large snapshot, and what is held after that. */
export async function measureLoad(stage: Stage): Promise<Row[]> {
  const { signal } = stage;
  const { rounds, seconds, largeTickets: tickets, events } = stage.sizes;
  const snapshot = await stage.snapshot({ tickets, events });
  const files = stage.files(snapshot);
  using content = new SnapshotContent(snapshot);
  const targets = ticketTargets(content);
  await using meter = new PeakMeter(signal);

  const touch = async (): Promise<TouchAnswer> => {
    await using process = new Child<string, TouchAnswer>(TOUCH, signal);
    return await process.ask(snapshot);
  };
  const load = async (): Promise<Omit<Round, 'touchMs'>> => {
    await using server = await ReplicaProcess.start(files, {}, signal);
    const traffic = { port: server.port, credential: files.credential, targets, status: 200 };
    await meter.measure({ traffic, server }, seconds);
    await pause(SETTLE_MS, undefined, { signal });
    return { loadMs: server.loadMs, residentBytes: (await server.probe()).residentBytes };
  };
  stage.show('load: reading the file into the cache of the system');
  const { bytes } = await touch();
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    stage.show(`load: round ${round} of ${rounds}`);
    measured.push({ touchMs: (await touch()).ms, ...(await load()) });
  }

  const secondsOf = (of: 'touchMs' | 'loadMs') =>
    show(median(measured.map((round) => round[of])) / 1000, 's');
  const jsonBytes = recordBytesOf(snapshot);
  const resident = median(measured.map(({ residentBytes }) => residentBytes));
  return [
    rowOf({
      name: `load of ${tickets} tickets, against reading, copying and digesting the file`,
      note:
        `until live, as the log tells: ${secondsOf('loadMs')}; a loop that reads all runs by iterate(), copies the ` +
        `records into shared memory and digests all ${show(bytes / 1e6, 'MB')}: ${secondsOf('touchMs')}; each in a ` +
        'new process, the file in the cache',
      unit: 'times',
      reach: { atMost: 2 },
      rounds: measured.map(({ loadMs, touchMs }) => loadMs / touchMs),
      sumUp: median,
    }),
    rowOf({
      name: 'resident memory against the JSON of the records',
      note:
        `${show(resident / 1e6, 'MB')} of the process, indexes and threads included, after load and requests, ` +
        `against ${show(jsonBytes / 1e6, 'MB')}`,
      unit: 'times',
      reach: { atMost: 1.3 },
      rounds: measured.map(({ residentBytes }) => residentBytes / jsonBytes),
      sumUp: median,
    }),
  ];
}

function recordBytesOf(snapshot: string): number {
  const runs = inspectSnapshot(snapshot).organizations.flatMap(({ runs }) => Object.values(runs).flat());
  return sum(runs.map(({ recordBytes }) => recordBytes));
}

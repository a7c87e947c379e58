import { setTimeout as pause } from 'node:timers/promises';
import { type ReplicaFiles, ReplicaProcess } from '../replica-process.ts';
import { type Row, rowOf, show } from '../row.ts';
import type { Stage } from '../stage.ts';
import { greatest, median } from '../statistics.ts';
import { POLL_SECONDS } from './poll-seconds.ts';

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

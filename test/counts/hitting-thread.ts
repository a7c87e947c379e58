import { workerData } from 'node:worker_threads';
import { monotonicNow } from '../../src/clock.ts';
import { countHit, type HitCounts } from '../../src/counts/hit-counts.ts';

/** Hits one key as fast as it can, once all threads have started, and counts the windows that it opens. */

export interface HittingThread {
  readonly counts: HitCounts;
  readonly hits: number;
  /** Number of threads that have started, and of first hits in a window. */
  readonly tallies: Int32Array<SharedArrayBuffer>;
  readonly threads: number;
}

const { counts, hits, tallies, threads } = workerData as HittingThread;
Atomics.add(tallies, 0, 1);
while (Atomics.load(tallies, 0) < threads);
for (let i = 0; i < hits; i++) {
  if (countHit(counts, 7, 60_000, monotonicNow()).count === 1) Atomics.add(tallies, 1, 1);
}

import { workerData } from 'node:worker_threads';
import { HitCounter } from '../../../src/http/checks/hit-counter.ts';
import type { HitCounts } from '../../../src/http/checks/hit-counter.ts';

/** A thread that hits one key, as fast as it can, when all are there. Tells how often it saw a window opened. */

export interface HittingThread {
  readonly counts: HitCounts;
  readonly key: string;
  readonly hits: number;
  /** How many threads are there; and how often one of them was told that it was the first in a window. */
  readonly tallies: Int32Array<SharedArrayBuffer>;
  readonly threads: number;
}

const { counts, key, hits, tallies, threads } = workerData as HittingThread;
const counter = new HitCounter(60_000, { counts, slotOf: () => 7 });
Atomics.add(tallies, 0, 1);
while (Atomics.load(tallies, 0) < threads);
for (let i = 0; i < hits; i++) if (counter.hit(key).count === 1) Atomics.add(tallies, 1, 1);

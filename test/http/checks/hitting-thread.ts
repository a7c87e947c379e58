import { workerData } from 'node:worker_threads';
import { HitCounter, type HitCounts } from '../../../src/http/checks/rate-limit.ts';

/** A thread that hits one key, as fast as it can, when all are there. Tells how often it saw a window opened. */

export interface HittingThread {
  readonly counts: HitCounts;
  readonly key: string;
  readonly hits: number;
  /** How many threads are there; and how often one of them was told that it was the first in a window. */
  readonly requestMetrics: Int32Array<SharedArrayBuffer>;
  readonly threads: number;
}

const { counts, key, hits, requestMetrics, threads } = workerData as HittingThread;
const counter = new HitCounter(60_000, { counts, slotOf: () => 7 });
Atomics.add(requestMetrics, 0, 1);
while (Atomics.load(requestMetrics, 0) < threads);
for (let i = 0; i < hits; i++) if (counter.hit(key).count === 1) Atomics.add(requestMetrics, 1, 1);

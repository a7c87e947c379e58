import type { Response } from 'express';
import { MAX_SLOTS } from '../../keys/key-ring.ts';
import type { RequestMetrics } from '../request-metrics.ts';
import { retryLater } from '../response/problem.ts';
import { type CountsBySlot, newCountsBySlot, type WorkerCounts } from '../worker-counts.ts';

/** Streams of one key at a time, over all workers. */
const MAX_STREAMS_PER_KEY = 2;
const RETRY_SECONDS = 5;
const TOO_MANY_STREAMS = retryLater(
  'streams',
  `The key already has ${MAX_STREAMS_PER_KEY} open streams (application/x-ndjson); try again when one has ended.`,
  RETRY_SECONDS,
);

/** Numbers of open streams by the slot of their key. */
export function newStreamCounts(): CountsBySlot {
  return newCountsBySlot(MAX_SLOTS);
}

/** Limits the streams that are open for a key. */
export class StreamLimit {
  readonly #counts: WorkerCounts;
  readonly #metrics: RequestMetrics;

  constructor(counts: WorkerCounts, metrics: RequestMetrics) {
    this.#counts = counts;
    this.#metrics = metrics;
  }

  /**
   * Counts a response as an open stream of the key of a slot until it is closed.
   * @throws Problem 429 beyond the limit
   */
  open(response: Response, slot: number): void {
    if (this.#counts.change(slot, 1) > MAX_STREAMS_PER_KEY) {
      this.#counts.change(slot, -1);
      throw TOO_MANY_STREAMS;
    }
    this.#metrics.addStreams(1);
    response.on('close', () => {
      this.#counts.change(slot, -1);
      this.#metrics.addStreams(-1);
    });
  }
}

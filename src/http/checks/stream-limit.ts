import type { Response } from 'express';
import { type OpenCounts, STREAMS } from '../../counts/open-counts.ts';
import { retryLater } from '../response/problem.ts';

/** Streams of one key at a time, over all workers. */
const MAX_STREAMS_PER_KEY = 2;
const RETRY_SECONDS = 5;
const TOO_MANY_STREAMS = retryLater(
  'streams',
  `The key already has ${MAX_STREAMS_PER_KEY} open streams (application/x-ndjson); try again when one has ended.`,
  RETRY_SECONDS,
);

/** Limits the streams that are open for a key. */
export class StreamLimit {
  readonly #counts: OpenCounts;

  constructor(counts: OpenCounts) {
    this.#counts = counts;
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
    this.#counts.change(STREAMS, 1);
    response.on('close', () => {
      this.#counts.change(slot, -1);
      this.#counts.change(STREAMS, -1);
    });
  }
}

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

/**
 * Counts a response as an open stream of the key of a slot until it is closed.
 * @throws Problem 429 beyond the limit
 */
export function countStream(counts: OpenCounts, response: Response, slot: number): void {
  if (counts.change(slot, 1) > MAX_STREAMS_PER_KEY) {
    counts.change(slot, -1);
    throw TOO_MANY_STREAMS;
  }
  counts.change(STREAMS, 1);
  response.on('close', () => {
    counts.change(slot, -1);
    counts.change(STREAMS, -1);
  });
}

import type { EventEmitter } from 'node:events';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { Logger } from 'pino';
import { monotonicNow } from '../../clock.ts';
import { countHit, type HitCounts } from '../../counts/hit-counts.ts';
import { type OpenCounts, STREAMS } from '../../counts/open-counts.ts';
import { retryLater } from '../response/problem.ts';

const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1000;

export type RateLimitState = NonNullable<ReturnType<RateLimit['count']>>;

/**
 * The limit of requests of each key. Its counts are shared by all workers.
 *
 * express-rate-limit refuses, but does not count: it awaits several promises for each request, so that throughput for
 * one ticket would be 0.82 times (docs/performance.md).
 */
export class RateLimit {
  /** Refuses a request that `count` has found to be over the limit. */
  readonly refuse: RequestHandler;
  readonly #perMinute: number;
  readonly #counts: HitCounts;
  readonly #clock: () => number;
  readonly #name: string;
  readonly #policy: string;

  /** @param perMinute requests in a minute; 0 for no limit */
  constructor(perMinute: number, counts: HitCounts, log: Logger, clock = monotonicNow) {
    this.#perMinute = perMinute;
    this.#counts = counts;
    this.#clock = clock;
    this.#name = `"${perMinute}-in-1min"`;
    this.#policy = `${this.#name}; q=${perMinute}; w=${WINDOW_SECONDS}`;
    this.refuse = rateLimit({
      // It gets only requests over the limit, and has one count for all of them.
      limit: 0,
      keyGenerator: () => '',
      validate: false,
      standardHeaders: false,
      legacyHeaders: false,
      handler: (_request, response, next) => {
        const seconds = response.locals.context.rateLimit?.seconds ?? WINDOW_SECONDS;
        const detail = `More than ${perMinute} requests in a minute; try again in ${seconds} s.`;
        next(retryLater('rate-limit', detail, seconds));
      },
      logger: log,
    });
  }

  /**
   * Counts a request of the key of a slot. Returns undefined without a limit.
   * @returns `seconds` until the window has ended, whole and at least 1, and the headers of
   *   draft-ietf-httpapi-ratelimit-headers-08
   */
  count(slot: number) {
    if (this.#perMinute === 0) return undefined;
    const { count, millisecondsLeft } = countHit(this.#counts, slot, WINDOW_MS, this.#clock());
    const seconds = Math.ceil(millisecondsLeft / 1000);
    const limit = `${this.#name}; r=${Math.max(0, this.#perMinute - count)}; t=${seconds}`;
    const headers = ['RateLimit-Policy', this.#policy, 'RateLimit', limit];
    return { isExceeded: count > this.#perMinute, seconds, headers };
  }
}

const MAX_STREAMS_PER_KEY = 2;
const TOO_MANY_STREAMS = retryLater(
  'streams',
  `The key already has ${MAX_STREAMS_PER_KEY} open streams (application/x-ndjson); try again when one has ended.`,
);

/**
 * Counts a response as an open stream of the key of a slot until it is closed.
 * @throws Problem 429 beyond the limit
 */
export function countStream(counts: OpenCounts, response: EventEmitter, slot: number): void {
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

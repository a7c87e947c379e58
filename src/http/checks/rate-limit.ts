import type { RequestHandler } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import type { Logger } from 'pino';
import { monotonicNow } from '../../clock.ts';
import { MAX_SLOTS } from '../../keys/key-ring.ts';
import { type HeaderList, retryLater } from '../response/problem.ts';

const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1000;

/** The state of a key's limit after a request. */
export interface RateLimitState {
  readonly isExceeded: boolean;
  /** Whole seconds until the window has ended, at least 1. */
  readonly seconds: number;
  /** The headers of draft-ietf-httpapi-ratelimit-headers-08. */
  readonly headers: HeaderList;
}

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
      store: storeOfRefused(perMinute),
      validate: false,
      windowMs: WINDOW_MS,
      limit: perMinute,
      standardHeaders: false,
      legacyHeaders: false,
      keyGenerator: (_request, response) => response.locals.context.caller?.keyId ?? '',
      handler: (_request, response, next) => {
        const seconds = response.locals.context.rateLimit?.seconds ?? WINDOW_SECONDS;
        const detail = `More than ${perMinute} requests in a minute; try again in ${seconds} s.`;
        next(retryLater('rate-limit', detail, seconds));
      },
      logger: log,
    });
  }

  /** Counts a request of the key of a slot. Returns undefined without a limit. */
  count(slot: number): RateLimitState | undefined {
    if (this.#perMinute === 0) return undefined;
    const { count, millisecondsLeft } = countHit(this.#counts, slot, WINDOW_MS, this.#clock());
    const seconds = Math.ceil(millisecondsLeft / 1000);
    const limit = `${this.#name}; r=${Math.max(0, this.#perMinute - count)}; t=${seconds}`;
    const headers = ['RateLimit-Policy', this.#policy, 'RateLimit', limit];
    return { isExceeded: count > this.#perMinute, seconds, headers };
  }
}

/** Returns a store for express-rate-limit, which consults it only for requests beyond the limit. */
function storeOfRefused(perMinute: number): Store {
  const ignore = () => undefined;
  return {
    localKeys: true,
    increment: () => ({ totalHits: perMinute + 1, resetTime: undefined }),
    decrement: ignore,
    resetKey: ignore,
  };
}

/**
 * The counts of all keys, one 64-bit word each, in shared memory:
 *
 *     63                                24 23                          0
 *     | end of the window, milliseconds   | hits                       |
 *
 * One atomic operation opens a window or counts a hit, so a terminated thread leaves a consistent word.
 */
export type HitCounts = BigInt64Array<SharedArrayBuffer>;

const HIT_BITS = 24n;
const HIT_MASK = (1n << HIT_BITS) - 1n;
/** Greatest count. More hits are not added, since they could carry into the bits of the time. */
const MAX_HITS = 2 ** 24 - 2 ** 10;

/** Creates a count for each slot. The system allocates memory only for counts that are used. */
export function newHitCounts(slots = MAX_SLOTS): HitCounts {
  return new BigInt64Array(new SharedArrayBuffer(slots * BigInt64Array.BYTES_PER_ELEMENT));
}

/** The hits of a key in its current window. */
export interface Hits {
  /** Includes the latest hit. */
  readonly count: number;
  /** Time until the window ends, more than 0. */
  readonly millisecondsLeft: number;
}

/**
 * Counts a hit. The first hit of a key opens a window of fixed length. The first hit after its end opens the next one.
 * @param now milliseconds of a monotonic clock: setting the wall clock must not lengthen a window
 */
export function countHit(counts: HitCounts, slot: number, windowMs: number, now: number): Hits {
  let word = Atomics.load(counts, slot);
  while (endOf(word) <= now) {
    // Rounded down, so that no window is longer than `windowMs`.
    const opened = (BigInt(Math.floor(now) + windowMs) << HIT_BITS) | 1n;
    const found = Atomics.compareExchange(counts, slot, word, opened);
    if (found === word) return { count: 1, millisecondsLeft: endOf(opened) - now };
    // Another thread has opened the window.
    word = found;
  }
  if (hitsOf(word) < MAX_HITS) word = Atomics.add(counts, slot, 1n) + 1n;
  return { count: hitsOf(word), millisecondsLeft: Math.min(endOf(word) - now, windowMs) };
}

function endOf(word: bigint): number {
  return Number(word >> HIT_BITS);
}

function hitsOf(word: bigint): number {
  return Number(word & HIT_MASK);
}

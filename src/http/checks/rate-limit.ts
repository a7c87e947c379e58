import type { RequestHandler } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import type { Logger } from 'pino';
import { monotonicNow } from '../../clock.ts';
import { type HeaderList, retryLater } from '../response/problem.ts';

const WINDOW_SECONDS = 60;

/** Lets every request pass. */
export const noRateLimit: RequestHandler = (_request, _response, next) => {
  next();
};

/** How a key stands with its limit. */
export interface RateLimitStanding {
  readonly policy: Policy;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1: after them it has ended. */
  readonly seconds: number;
}

/** The policy: its name, and the value of the header that tells it. */
interface Policy {
  readonly name: string;
  readonly terms: string;
}

/**
 * Counts the requests of each key and refuses those beyond the limit.
 *
 * express-rate-limit refuses, but does not count: it awaits several promises for each request, and one ticket makes 0.90 of the requests a
 * second when it is asked about all of them. Its own headers are off: for them it would hash the key of each request.
 */
export function rateLimitPerKey(
  perMinute: number,
  log: Logger,
  options: HitCounterOptions = {},
): RequestHandler {
  const name = `"${perMinute}-in-1min"`;
  const policy: Policy = { name, terms: `${name}; q=${perMinute}; w=${WINDOW_SECONDS}` };
  const counter = new HitCounter(WINDOW_SECONDS * 1000, options);
  const refuse = rateLimit({
    store: storeOfRefused(perMinute),
    validate: false,
    windowMs: WINDOW_SECONDS * 1000,
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
  return (request, response, next) => {
    const { context } = response.locals;
    if (context.caller === undefined) throw new TypeError('the key is not checked yet');
    const { count, millisecondsLeft } = counter.hit(context.caller.keyId);
    const seconds = Math.ceil(millisecondsLeft / 1000);
    context.rateLimit = { policy, remaining: Math.max(0, perMinute - count), seconds };
    if (count <= perMinute) next();
    else void refuse(request, response, next);
  };
}

/** The store of express-rate-limit, which is asked about requests beyond the limit alone. They are counted already. */
function storeOfRefused(perMinute: number): Store {
  const ignore = () => undefined;
  return {
    localKeys: true,
    increment: () => ({ totalHits: perMinute + 1, resetTime: undefined }),
    decrement: ignore,
    resetKey: ignore,
  };
}

/** Returns the headers of draft-ietf-httpapi-ratelimit-headers-08. */
export function rateLimitHeaders({ policy, remaining, seconds }: RateLimitStanding): HeaderList {
  return ['RateLimit-Policy', policy.terms, 'RateLimit', `${policy.name}; r=${remaining}; t=${seconds}`];
}

/** How often a key was seen in its window. */
export interface Hits {
  /** This one included. */
  readonly count: number;
  /** Until the window ends, more than 0. */
  readonly millisecondsLeft: number;
}

/**
 * The counts of all keys, one 64-bit word each, in memory that threads share:
 *
 *     63                                24 23                          0
 *     | end of the window, milliseconds   | hits                       |
 *
 * One word, so that a window is opened, and a hit counted, in one step: a thread that dies leaves nothing half done.
 */
export type HitCounts = BigInt64Array<SharedArrayBuffer>;

const HIT_BITS = 24n;
const HIT_MASK = (1n << HIT_BITS) - 1n;
/** Beyond this hits are not added, so that they never reach the bits of the time. No process answers so many in a minute. */
const MOST_HITS = 2 ** 24 - 2 ** 10;

/** How many keys are counted apart. Memory that is not used takes none of the machine's. */
const MOST_KEYS = 2 ** 20;

export function newHitCounts(): HitCounts {
  return new BigInt64Array(new SharedArrayBuffer(MOST_KEYS * BigInt64Array.BYTES_PER_ELEMENT));
}

/** Numbers keys, from 0 on. Keys that are more than can be counted apart share a number with earlier ones. */
export class HitSlots {
  readonly #slots = new Map<string, number>();

  of(key: string): number {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = this.#slots.size % MOST_KEYS;
      this.#slots.set(key, slot);
    }
    return slot;
  }
}

export interface HitCounterOptions {
  readonly counts?: HitCounts;
  /** Which of the counts is that of a key: the same in all threads that share them. */
  readonly slotOf?: (key: string) => number;
  /** Milliseconds, from any moment on, that never go back: the same in all threads that share the counts. */
  readonly clock?: () => number;
}

/**
 * Counts hits by key. The first hit of a key opens a window of fixed length; the first one after its end opens the
 * next. Time is that of a clock which nobody sets, so that no window lasts longer than it should.
 */
export class HitCounter {
  readonly #windowMs: number;
  readonly #counts: HitCounts;
  readonly #slotOf: (key: string) => number;
  readonly #clock: () => number;

  constructor(windowMs: number, options: HitCounterOptions = {}) {
    const slots = new HitSlots();
    this.#windowMs = windowMs;
    this.#counts = options.counts ?? newHitCounts();
    this.#slotOf = options.slotOf ?? ((key) => slots.of(key));
    this.#clock = options.clock ?? monotonicNow;
  }

  hit(key: string): Hits {
    const slot = this.#slotOf(key);
    const now = this.#clock();
    let seen = Atomics.load(this.#counts, slot);
    while (endOf(seen) <= now) {
      // Rounded down, so that no window is longer than it is said to be.
      const opened = (BigInt(Math.floor(now) + this.#windowMs) << HIT_BITS) | 1n;
      const found = Atomics.compareExchange(this.#counts, slot, seen, opened);
      if (found === seen) return { count: 1, millisecondsLeft: endOf(opened) - now };
      // Another thread was first: it opened the window, and this hit falls into it.
      seen = found;
    }
    if (hitsOf(seen) < MOST_HITS) seen = Atomics.add(this.#counts, slot, 1n) + 1n;
    return { count: hitsOf(seen), millisecondsLeft: Math.min(endOf(seen) - now, this.#windowMs) };
  }
}

function endOf(word: bigint): number {
  return Number(word >> HIT_BITS);
}

function hitsOf(word: bigint): number {
  return Number(word & HIT_MASK);
}

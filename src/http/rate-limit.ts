import { rateLimit } from 'express-rate-limit';
import type { RateLimitInfo } from 'express-rate-limit';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { HitCounter } from './hit-counter.ts';
import type { HitCounterOptions } from './hit-counter.ts';
import { tryLater } from './problem.ts';
import type { HeaderList } from './problem.ts';
import { RateLimitStore, WindowEnd } from './rate-limit-store.ts';

const WINDOW_SECONDS = 60;

/** The policy: its name, and the value of the header that tells it. */
interface Policy {
  readonly name: string;
  readonly terms: string;
}

/** How a key stands with its limit. */
export interface RateLimitStanding {
  readonly policy: Policy;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1: a caller who waits for them finds it ended. */
  readonly seconds: number;
}

/**
 * Counts the requests of each key and refuses those past the limit.
 *
 * A request within the limit is let through as soon as it is counted. The library waits for promises several times on
 * its way, which made a small answer a fifth dearer, so it is asked only about a request past the limit: it counts it
 * once more, which changes nothing, but when the window has just ended. The library's own headers are off: it would
 * hash the key for them, and its key part is optional.
 */
export function rateLimitPerKey(
  perMinute: number,
  log: Logger,
  options: HitCounterOptions = {},
): RequestHandler {
  const name = `"${perMinute}-in-1min"`;
  const policy: Policy = { name, terms: `${name}; q=${perMinute}; w=${WINDOW_SECONDS}` };
  const counter = new HitCounter(WINDOW_SECONDS * 1000, options);
  const askLibrary = rateLimit({
    store: new RateLimitStore(counter),
    // They look at the first request alone, for mistakes in the use of the library.
    validate: false,
    windowMs: WINDOW_SECONDS * 1000,
    limit: perMinute,
    standardHeaders: false,
    legacyHeaders: false,
    keyGenerator: (_request, response) => response.locals.exchange.keyId,
    handler: (request, _response, next) => {
      const seconds = secondsLeft(request.rateLimit);
      const detail = `More than ${perMinute} requests in a minute; try again in ${seconds} s.`;
      next(tryLater('rate-limit', detail, seconds));
    },
    logger: log,
  });
  return (request, response, next) => {
    const { exchange } = response.locals;
    const { count, millisecondsLeft } = counter.hit(exchange.keyId);
    if (count <= perMinute) {
      const seconds = wholeSeconds(millisecondsLeft);
      exchange.rateLimit = { policy, remaining: perMinute - count, seconds };
      next();
      return;
    }
    void askLibrary(request, response, (error: unknown) => {
      const { rateLimit: info } = request;
      exchange.rateLimit = { policy, remaining: info?.remaining ?? 0, seconds: secondsLeft(info) };
      next(error);
    });
  };
}

function secondsLeft(info: RateLimitInfo | undefined): number {
  const end = info?.resetTime;
  return end instanceof WindowEnd ? wholeSeconds(end.millisecondsLeft) : WINDOW_SECONDS;
}

function wholeSeconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-08. */
export function rateLimitHeaders({ policy, remaining, seconds }: RateLimitStanding): HeaderList {
  return ['RateLimit-Policy', policy.terms, 'RateLimit', `${policy.name}; r=${remaining}; t=${seconds}`];
}

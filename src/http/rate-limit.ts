import { rateLimit } from 'express-rate-limit';
import type { RateLimitInfo } from 'express-rate-limit';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { HitCounter } from './hit-counter.ts';
import { tryLater } from './problem.ts';
import { RateLimitStore, WindowEnd } from './rate-limit-store.ts';

const WINDOW_SECONDS = 60;

/**
 * Counts the requests of each key and refuses those past the limit.
 * The library's own headers are off: it would hash the key for them on every request, and its key part is optional.
 */
export function rateLimitPerKey(
  perMinute: number,
  log: Logger,
  counter = new HitCounter(WINDOW_SECONDS * 1000),
): RequestHandler {
  return rateLimit({
    store: new RateLimitStore(counter),
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
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-08, names and values in turn. */
export function rateLimitHeaders(info: RateLimitInfo): string[] {
  const name = `"${info.limit}-in-1min"`;
  return [
    'RateLimit-Policy',
    `${name}; q=${info.limit}; w=${WINDOW_SECONDS}`,
    'RateLimit',
    `${name}; r=${info.remaining}; t=${secondsLeft(info)}`,
  ];
}

/** Whole seconds until the window ends, at least 1: a caller who waits for them finds it ended. */
function secondsLeft(info: RateLimitInfo | undefined): number {
  const end = info?.resetTime;
  return end instanceof WindowEnd ? Math.ceil(end.millisecondsLeft / 1000) : WINDOW_SECONDS;
}

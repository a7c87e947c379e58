import { rateLimit } from 'express-rate-limit';
import type { RateLimitInfo } from 'express-rate-limit';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { HitCounter } from './hit-counter.ts';
import type { HitCounterOptions } from './hit-counter.ts';
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
  options: HitCounterOptions = {},
): RequestHandler {
  return rateLimit({
    store: new RateLimitStore(new HitCounter(WINDOW_SECONDS * 1000, options)),
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
}

/** What is the same in each response: the name of the policy, and the header that tells it. */
interface Policy {
  readonly limit: number;
  readonly name: string;
  readonly header: string;
}

let policy = policyOf(0);

function policyOf(limit: number): Policy {
  const name = `"${limit}-in-1min"`;
  return { limit, name, header: `${name}; q=${limit}; w=${WINDOW_SECONDS}` };
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-08, names and values in turn. */
export function rateLimitHeaders(info: RateLimitInfo): string[] {
  if (policy.limit !== info.limit) policy = policyOf(info.limit);
  const left = `${policy.name}; r=${info.remaining}; t=${secondsLeft(info)}`;
  return ['RateLimit-Policy', policy.header, 'RateLimit', left];
}

/** Whole seconds until the window ends, at least 1: a caller who waits for them finds it ended. */
function secondsLeft(info: RateLimitInfo | undefined): number {
  const end = info?.resetTime;
  return end instanceof WindowEnd ? Math.ceil(end.millisecondsLeft / 1000) : WINDOW_SECONDS;
}

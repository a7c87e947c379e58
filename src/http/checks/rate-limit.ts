import { rateLimit } from 'express-rate-limit';
import type { Store } from 'express-rate-limit';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { HitCounter } from './hit-counter.ts';
import type { HitCounterOptions } from './hit-counter.ts';
import { tryLater } from '../response/problem.ts';
import type { HeaderList } from '../response/problem.ts';

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
      next(tryLater('rate-limit', detail, seconds));
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

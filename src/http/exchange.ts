import type { Edition } from './editions.ts';
import type { LaterReason } from './problem.ts';
import type { RateLimitStanding } from './rate-limit.ts';

/** What is known of one request and its response while it is answered; kept in `response.locals.exchange`. */
export class Exchange {
  readonly requestId: string;
  /** The moment of the request, in milliseconds since the epoch: everything in the answer is as of then. */
  readonly now: number;
  readonly startedAt = performance.now();
  /** Id of the operation, once the route is known. */
  operation: string | undefined;
  /** The version served; only requests to the API have one. */
  edition: Edition | undefined;
  /** Who asks, once the key is known to be good; empty until then. */
  organizationId = '';
  keyId = '';
  /** Once the request is counted. */
  rateLimit: RateLimitStanding | undefined;
  /** Value of the header that names the parameters that were ignored. */
  ignoredParameters: string | undefined;
  /** Why the caller is to come again later, when that is the answer. */
  later: LaterReason | undefined;
  /** Length of the body of the response. */
  bytes = 0;
  /** Number of records in the answer; undefined when it is not of records. */
  rows: number | undefined;

  constructor(requestId: string, now: number) {
    this.requestId = requestId;
    this.now = now;
  }
}

declare module 'express-serve-static-core' {
  interface Locals {
    exchange: Exchange;
  }
}

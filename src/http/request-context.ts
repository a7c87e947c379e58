import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER, REQUEST_ID_PATTERN } from '../contract/headers.ts';
import type { RateLimitStanding } from './checks/rate-limit.ts';
import { type ApiVersion, type ApiVersions, versionOf } from './checks/version.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { RetryReason } from './response/problem.ts';
import { isApiTarget } from './target.ts';

/** The owner of a valid key. */
export interface Caller {
  readonly organizationId: string;
  readonly keyId: string;
}

/** What is known of a request while it is answered; kept in `response.locals.context`. */
export class RequestContext {
  readonly requestId: string;
  /** The moment of the request, in milliseconds since the epoch: the response is as of then. */
  readonly now: number;
  readonly startedAt = performance.now();
  /** The version that the response names; undefined outside of the API. The stable one when the one asked for is not valid. */
  readonly version: ApiVersion | undefined;
  readonly isVersionValid: boolean;
  /** Id of the operation, once the route is found. */
  operation: string | undefined;
  /** Set when the key is found to be good. */
  caller: Caller | undefined;
  /** Set when the request is counted. */
  rateLimit: RateLimitStanding | undefined;
  /** Value of the header that names the ignored parameters. */
  ignoredParameters: string | undefined;
  /** Reason of a 429. */
  later: RetryReason | undefined;
  /** Length of the body of the response. */
  bytes = 0;
  /** Number of records in the response; undefined when it has none. */
  rows: number | undefined;

  constructor(requestId: string, now: number, version?: ApiVersion, isVersionValid = true) {
    this.requestId = requestId;
    this.now = now;
    this.version = version;
    this.isVersionValid = isVersionValid;
  }
}

declare module 'express-serve-static-core' {
  interface Locals {
    context: RequestContext;
  }
}

const REQUEST_ID_KEY = REQUEST_ID_HEADER.toLowerCase();
const FIT = new RegExp(REQUEST_ID_PATTERN);

/** Returns the id that the caller gave a request when it is fit for a header and a log, else a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && FIT.test(given) ? given : randomUUID();
}

/** Begins the context of a request, and ends it when the response is closed: sent, or given up by the caller. */
export function contextStarter(
  clock: () => number,
  versions: ApiVersions,
  log: Logger,
  metrics: RequestMetrics,
): (request: Request, response: Response) => void {
  const end = contextEnder(log, metrics);
  return (request, response) => {
    const requestId = requestIdOf(request.headers[REQUEST_ID_KEY]);
    const now = clock();
    const { locals } = response;
    if (isApiTarget(request.url)) {
      const asked = versionOf(request, versions, now);
      locals.context = new RequestContext(requestId, now, asked ?? versions.stable(now), asked !== undefined);
    } else locals.context = new RequestContext(requestId, now);
    response.on('close', end);
  };
}

/**
 * Logs the response in one line, and counts it. The line has nothing of the target but the operation: paths and queries hold ids and
 * e-mail addresses.
 */
function contextEnder(log: Logger, metrics: RequestMetrics): (this: Response) => void {
  return function () {
    const { requestId, caller, operation, version, later, startedAt, bytes, rows } = this.locals.context;
    const { statusCode: status } = this;
    const elapsedMs = performance.now() - startedAt;
    const durationMs = Math.round(elapsedMs * 1000) / 1000;
    metrics.countRequest({ operation, status, version: version?.version, later, seconds: elapsedMs / 1000 });
    // Undefined is not logged.
    const sent = this.writableFinished ? undefined : false;
    log.info({ requestId, ...caller, operation, status, durationMs, rows, bytes, sent }, 'request');
  };
}

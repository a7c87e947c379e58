import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER, REQUEST_ID_PATTERN } from '../contract/headers.ts';
import type { Release } from '../contract/releases.ts';
import type { RateLimitState } from './checks/rate-limit.ts';
import { type ApiVersion, resolveVersion, versionHeader } from './checks/version.ts';
import type { PinOutcome, RequestMetrics } from './request-metrics.ts';
import type { HeaderList, RetryReason } from './response/problem.ts';
import { isApiTarget } from './target.ts';

/** The owner of a valid key. */
export interface Caller {
  readonly organizationId: string;
  readonly keyId: string;
}

/** The state of a request, in `response.locals.context`. */
export class RequestContext {
  readonly requestId: string;
  /** Arrival of the request, in milliseconds since the epoch. The response is as of this time. */
  readonly now: number;
  readonly startedAt = performance.now();
  /** Undefined outside of the API. */
  readonly version: ApiVersion | undefined;
  /** Id of the operation; set by its route. */
  operation: string | undefined;
  /** Headers that announce the end of the version or, set by its route, of the operation. */
  endHeaders: HeaderList;
  /** Headers that permit scripts of other origins to read the response; undefined if they never may. */
  corsHeaders: HeaderList | undefined;
  /** Set when the key is valid. */
  caller: Caller | undefined;
  /** Set when the request is counted. */
  rateLimit: RateLimitState | undefined;
  /** Value of the header that names the ignored query parameters. */
  ignoredParameters: string | undefined;
  /** Reason for a 429 response. */
  retryReason: RetryReason | undefined;
  /** Set when the content digest of a link did not select the live data. */
  pin: PinOutcome | undefined;
  /** Whether the request has a log line of its own. */
  isLogged = true;
  /** Length of the response body. */
  bytes = 0;
  /** Number of records in the response; undefined when it has none. */
  rows: number | undefined;
  /** Whether the response is a stream. */
  isStream = false;
  /** Called whenever a stream makes progress, with the number of its bytes that wait to be sent. */
  noteProgress: ((unsentBytes: number) => void) | undefined;

  constructor(requestId: string, now: number, version?: ApiVersion) {
    this.requestId = requestId;
    this.now = now;
    this.version = version;
    this.endHeaders = version?.endHeaders ?? [];
  }
}

declare module 'express-serve-static-core' {
  interface Locals {
    context: RequestContext;
  }
}

const REQUEST_ID_KEY = REQUEST_ID_HEADER.toLowerCase();
const REQUEST_ID = new RegExp(REQUEST_ID_PATTERN);

/** Returns the client's request id if it has the required form, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID();
}

/** Creates the context of a request. */
export function startContext(
  request: Request,
  response: Response,
  releases: readonly Release[],
  now: number,
): void {
  const requestId = requestIdOf(request.headers[REQUEST_ID_KEY]);
  const version = isApiTarget(request.url)
    ? resolveVersion(versionHeader(request), releases, now)
    : undefined;
  response.locals.context = new RequestContext(requestId, now, version);
}

/**
 * Logs and counts a request whose response is closed, complete or not.
 * The log line omits the target: paths and queries hold ids and e-mail addresses.
 */
export function reportRequest(response: Response, log: Logger, metrics: RequestMetrics): void {
  const { requestId, caller, operation, version, retryReason, pin, isLogged, startedAt, bytes, rows } =
    response.locals.context;
  const { statusCode: status } = response;
  const elapsedMs = performance.now() - startedAt;
  const seconds = response.locals.context.isStream ? undefined : elapsedMs / 1000;
  metrics.countRequest({ operation, status, version: version?.name, retryReason, pin, seconds });
  if (!isLogged) return;
  const durationMs = Math.round(elapsedMs * 1000) / 1000;
  // pino omits undefined fields.
  const sent = response.writableFinished ? undefined : false;
  log.info({ requestId, ...caller, operation, status, durationMs, rows, bytes, pin, sent }, 'request');
}

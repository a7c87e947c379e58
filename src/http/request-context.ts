import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { REQUEST_ID_HEADER, REQUEST_ID_PATTERN } from '../contract/headers.ts';
import type { PathParameter } from '../contract/operations.ts';
import { type ApiVersion, type Release, selectVersion, VERSION_HEADER } from '../contract/releases.ts';
import type { ValidKey } from '../keys/key-ring.ts';
import { versionHeaders } from './checks/version.ts';
import type { Connection } from './connections/connection.ts';
import type { PinOutcome, RequestMetrics } from '../counts/request-metrics.ts';
import type { Problem } from './response/problem.ts';

/** The state of a request, in `response.locals.context`. */
export class RequestContext {
  readonly connection: Connection;
  readonly requestId: string;
  /** Arrival of the request, in milliseconds since the epoch. The response is as of this time. */
  readonly now: number;
  readonly startedAt = performance.now();
  /** Undefined outside of the API. */
  readonly version: ApiVersion | undefined;
  /** Id of the operation; set by its route. */
  operation: string | undefined;
  /** Headers of the response, whether it is an answer or a refusal. Checks add to them. */
  readonly headers: string[];
  caller: ValidKey | undefined;
  problem: Problem | undefined;
  /** Set when the content digest of a link did not select the live data. */
  pin: PinOutcome | undefined;
  /** Whether the request has a log line of its own. */
  isLogged = true;
  bytes = 0;
  rows: number | undefined;
  isStream = false;

  constructor(connection: Connection, request: Request, releases: readonly Release[], now: number) {
    const { url } = request;
    const ownId = request.get(REQUEST_ID_HEADER);
    this.connection = connection;
    this.requestId = ownId !== undefined && REQUEST_ID.test(ownId) ? ownId : randomUUID();
    this.now = now;
    // The responses of the API all name the version.
    const isOfApi = url.startsWith('/v1/') || hasPath(url, '/v1');
    this.version = isOfApi ? selectVersion(request.get(VERSION_HEADER), releases, now) : undefined;
    const ofVersion = this.version ? versionHeaders(this.version) : [];
    this.headers = [REQUEST_ID_HEADER, this.requestId, ...ofVersion];
  }
}

declare module 'express-serve-static-core' {
  interface Locals {
    context: RequestContext;
  }
}

const REQUEST_ID = new RegExp(REQUEST_ID_PATTERN);

/**
 * Reduces a target (RFC 9112, section 3.2) to path and query, the form that routing and query parsing read. Drops the
 * host of an absolute target, and a fragment. The HTTP parser accepts only visible ASCII.
 */
export function normalizeTarget(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target;
  const [withoutFragment] = target.split('#', 1);
  const withoutHost = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  return withoutHost.startsWith('/') ? withoutHost : `/${withoutHost}`;
}

export function hasPath(target: string, path: string): boolean {
  return target.startsWith(path) && (target.length === path.length || target[path.length] === '?');
}

/** Returns the part of a target after the first `?`; empty when there is none. */
export function queryOf(target: string): string {
  const delimiter = target.indexOf('?');
  return delimiter < 0 ? '' : target.slice(delimiter + 1);
}

export function pathParameter({ params }: Request, { name }: PathParameter): string {
  const { [name]: value } = params;
  if (typeof value !== 'string') throw new TypeError(`the route has no parameter ${name}`);
  return value;
}

/**
 * Returns a function that returns the base URL of links in the response to a request. It is the configured one, or the
 * scheme and authority of the request. The address of the socket replaces an absent or malformed host. Logs once that a
 * proxy with TLS is not trusted.
 */
export function originReader({ publicBaseUrl }: Pick<Config, 'publicBaseUrl'>, log: Logger) {
  if (publicBaseUrl !== undefined) return () => publicBaseUrl;
  let hasWarned = false;
  return (request: Request): string => {
    const { protocol, host } = request;
    const scheme = protocol.toLowerCase() === 'https' ? 'https' : 'http';
    if (!hasWarned && scheme === 'http' && request.get('X-Forwarded-Proto')?.startsWith('https') === true) {
      hasWarned = true;
      const proxy = { address: request.socket.remoteAddress };
      log.warn(proxy, 'TRUST_PROXY lacks a proxy with TLS: links are http, and send keys in clear text');
    }
    return `${scheme}://${isHost(host) ? host : localAddress(request)}`;
  };
}

/** Returns whether a text is a valid host with an optional port. */
function isHost(text: string | undefined): text is string {
  if (text === undefined || text.length > 261) return false;
  const parts = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?|\[([0-9a-f:.]+)\])(?::([0-9]{1,5}))?$/i.exec(
    text,
  );
  if (parts === null) return false;
  const [, bracketed = '::', port = '0'] = parts;
  return isIPv6(bracketed) && Number(port) <= 65_535;
}

function localAddress({ socket }: Request): string {
  const { localAddress: address = 'localhost', localPort: port = 80 } = socket;
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/**
 * Logs and counts a request whose response is closed, complete or not.
 * The log line omits the target: paths and queries hold ids and e-mail addresses.
 */
export function reportRequest(response: Response, log: Logger, metrics: RequestMetrics): void {
  const { requestId, caller, operation, version, problem, pin, isLogged, isStream, startedAt, bytes, rows } =
    response.locals.context;
  const { statusCode: status } = response;
  const elapsedMs = performance.now() - startedAt;
  const seconds = isStream ? undefined : elapsedMs / 1000;
  const { reason, loc } = problem ?? {};
  metrics.countRequest({ operation, status, version: version?.name, reason, pin, seconds });
  if (!isLogged) return;
  const durationMs = Math.round(elapsedMs * 1000) / 1000;
  // pino omits undefined fields.
  const sent = response.writableFinished ? undefined : false;
  const { organizationId, keyId } = caller ?? {};
  log.info(
    { requestId, organizationId, keyId, operation, status, reason, loc, durationMs, rows, bytes, pin, sent },
    'request',
  );
}

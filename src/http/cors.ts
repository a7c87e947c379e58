import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors from 'cors';
import type { Request } from 'express';
import { REQUEST_HEADERS } from '../contract/openapi/document.ts';
import { PUBLIC_PATHS } from '../contract/openapi/public-paths.ts';
import { RESPONSE_HEADERS } from '../contract/openapi/responses.ts';
import type { HeaderList } from './response/problem.ts';

/**
 * Which scripts of other origins may read responses: the CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */

export interface CorsConfig {
  /** Origins whose scripts may read responses, or `*` for all; undefined for none. */
  readonly corsOrigins: readonly string[] | '*' | undefined;
}

/** Request headers of the API, beside those that browsers always permit, such as Accept. */
const ALLOWED_HEADERS = ['Authorization', ...new Set(Object.values(REQUEST_HEADERS).map(({ name }) => name))];
/** Time for which a browser may keep the response to a preflight. Chromium permits no longer one. */
const MAX_AGE_SECONDS = 7200;

/** Returns the CORS headers of the response to a request; undefined if no origin is permitted. */
type CorsHeaders = (request: Request) => HeaderList | undefined;

/** The OpenAPI document permits all origins, so that documentation pages can load it. */
export function corsHeaders({ corsOrigins }: CorsConfig): CorsHeaders {
  const ofDocument = headersFor('*');
  const ofOthers = corsOrigins === undefined ? () => undefined : headersFor(corsOrigins);
  return (request) => (isDocument(request.url) ? ofDocument(request) : ofOthers(request));
}

function isDocument(target: string): boolean {
  const { path } = PUBLIC_PATHS.openApi;
  return target === path || target.startsWith(`${path}?`);
}

/**
 * Runs the middleware once for each permitted origin, since Node sends headers that a middleware sets for a request
 * more slowly than a list: a small response takes 1.3 times the processor time.
 */
function headersFor(origins: readonly string[] | '*'): CorsHeaders {
  const middleware = cors({
    origin: origins === '*' ? origins : [...origins],
    methods: ['GET', 'HEAD'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: Object.keys(RESPONSE_HEADERS),
    maxAge: MAX_AGE_SECONDS,
    preflightContinue: true,
  });
  const listed = origins === '*' ? [] : origins;
  const headersOf = (method: string) => ({
    byOrigin: new Map(listed.map((origin) => [origin, headersSetBy(middleware, method, origin)])),
    others: headersSetBy(middleware, method, undefined),
  });
  const [ofPreflights, ofResponses] = [headersOf('OPTIONS'), headersOf('GET')];
  return (request) => {
    const { byOrigin, others } = isPreflight(request) ? ofPreflights : ofResponses;
    return byOrigin.get(request.headers.origin ?? '') ?? others;
  };
}

/** Returns the headers that the middleware sets for a request. */
function headersSetBy(
  middleware: ReturnType<typeof cors>,
  method: string,
  origin: string | undefined,
): HeaderList {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  middleware({ method, headers: { origin } }, response, () => undefined);
  return response.getHeaderNames().flatMap((name) => [name, String(response.getHeader(name))]);
}

/** Returns whether a browser asks whether it may send another request. */
export function isPreflight({ method, headers }: Request): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

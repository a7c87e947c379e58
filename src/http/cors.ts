import type { Request } from 'express';
import { REQUEST_HEADER_NAMES } from '../contract/headers.ts';
import { RESPONSE_HEADERS } from '../contract/openapi/responses.ts';
import type { HeaderList } from './response/problem.ts';

/**
 * Which scripts of other origins may read responses: the CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */

/** Seconds for which a browser may keep the response to a preflight. Chromium permits no longer time. */
const MAX_AGE = '7200';

const EXPOSED: HeaderList = ['Access-Control-Expose-Headers', Object.keys(RESPONSE_HEADERS).join()];
const PREFLIGHT: HeaderList = Object.entries({
  'Access-Control-Allow-Methods': 'GET,HEAD',
  'Access-Control-Allow-Headers': REQUEST_HEADER_NAMES.join(),
  'Access-Control-Max-Age': MAX_AGE,
}).flat();

/** Returns the CORS headers of the response to a request. A response to a listed origin varies by the origin. */
export function corsHeaders(request: Request, origins: readonly string[] | '*'): HeaderList {
  const { origin = '' } = request.headers;
  const isPermitted = origins === '*' || origins.includes(origin);
  return [
    ...(origins === '*' ? [] : ['Vary', 'Origin']),
    ...(isPermitted ? ['Access-Control-Allow-Origin', origins === '*' ? origins : origin] : []),
    ...EXPOSED,
    ...(isPreflight(request) ? PREFLIGHT : []),
  ];
}

/** Returns whether a browser asks whether it may send another request. */
export function isPreflight({ method, headers }: Request): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

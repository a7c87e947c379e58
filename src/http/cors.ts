import cors from 'cors';
import type { Request, Response } from 'express';
import { REQUEST_HEADERS } from '../contract/openapi/document.ts';
import { PUBLIC_PATHS } from '../contract/openapi/public-paths.ts';
import { RESPONSE_HEADERS } from '../contract/openapi/responses.ts';

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

/** Sets the CORS headers of a response, then calls `next`. Other headers may follow. */
export type SetCorsHeaders = (request: Request, response: Response, next: () => void) => void;

/**
 * Creates the function that selects how to set the CORS headers of a response to a target; undefined for none. The
 * OpenAPI document is public, so that a documentation page of any origin can load it.
 */
export function corsOf({ corsOrigins }: CorsConfig): (target: string) => SetCorsHeaders | undefined {
  const ofDocument = setterFor('*');
  const ofOthers = corsOrigins === undefined ? undefined : setterFor(corsOrigins);
  return (target) => (isDocument(target) ? ofDocument : ofOthers);
}

function isDocument(target: string): boolean {
  const { path } = PUBLIC_PATHS.openApi;
  return target === path || target.startsWith(`${path}?`);
}

function setterFor(origins: readonly string[] | '*'): SetCorsHeaders {
  return cors({
    origin: origins === '*' ? origins : [...origins],
    methods: ['GET', 'HEAD'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: Object.keys(RESPONSE_HEADERS),
    maxAge: MAX_AGE_SECONDS,
    preflightContinue: true,
  });
}

/** Returns whether a browser asks whether it may send another request. */
export function isPreflight({ method, headers }: Request): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

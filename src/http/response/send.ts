import type { Response } from 'express';
import {
  DATA_AS_OF_HEADER,
  IGNORED_PARAMETERS_HEADER,
  REQUEST_ID_HEADER,
  SNAPSHOT_ID_HEADER,
} from '../../contract/headers.ts';
import { VERSION_HEADER } from '../../contract/releases.ts';
import type { OrganizationStore } from '../../store/organization-store.ts';
import { rateLimitHeaders } from '../checks/rate-limit.ts';
import type { HeaderList, Problem } from './problem.ts';

/**
 * Names and values in turn. What the OWASP REST Security Cheat Sheet asks of every response of an API
 * (https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html#security-headers), but for
 * Cache-Control and Content-Type, which each answer decides. A browser heeds Strict-Transport-Security only
 * when it came over TLS.
 */
export const SECURITY_HEADERS: readonly string[] = [
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options',
  'DENY',
  'Strict-Transport-Security',
  'max-age=31536000',
  'Referrer-Policy',
  'no-referrer',
  'Permissions-Policy',
  'camera=(), geolocation=(), microphone=()',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];

const VARY = `Authorization, ${VERSION_HEADER}`;
const REVALIDATE = 'private, no-cache';
/** A partial view must not be taken for the whole, so no cache keeps it. */
const KEEP_NOTHING = 'no-store';

export const NO_STORE: HeaderList = ['Cache-Control', KEEP_NOTHING];

/** The pieces of a body in their order, one at least: bytes, mostly views of the store, and ASCII text. */
export type Body = readonly (Buffer | string)[];

/**
 * Writes a whole response. Every response of the app goes through here, so that the headers that all of them carry are put together in
 * one place.
 *
 * @param headers headers of this response
 * @param body JSON text; HEAD gets its length alone
 */
export function send(response: Response, status: number, headers: HeaderList, body?: Body): void {
  const { context } = response.locals;
  const { version, requestId, rateLimit, ignoredParameters } = context;
  const all = [...SECURITY_HEADERS, ...headers, REQUEST_ID_HEADER, requestId];
  if (version !== undefined) all.push(...version.headers);
  if (rateLimit !== undefined) all.push(...rateLimitHeaders(rateLimit));
  if (ignoredParameters !== undefined) all.push(IGNORED_PARAMETERS_HEADER, ignoredParameters);
  if (body === undefined) {
    response.writeHead(status, all).end();
    return;
  }
  let length = 0;
  for (const piece of body) length += piece.length;
  all.push('Content-Type', 'application/json', 'Content-Length', String(length));
  response.writeHead(status, all);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  context.bytes = length;
  // Head and pieces go to the system together, the records from where they stand: nothing is copied before.
  response.cork();
  const last = body.length - 1;
  for (let i = 0; i < last; i++) response.write(body[i], 'latin1');
  response.end(body[last], 'latin1');
}

export function sendProblem(response: Response, { status, headers, body }: Problem): void {
  send(response, status, [...NO_STORE, ...headers], [body]);
}

/** Returns the headers of every response that carries data of a store, or the tag of such a response. */
export function dataHeaders(
  { snapshotId, producedAt }: OrganizationStore,
  tag: string | undefined,
  isPartialView = false,
): HeaderList {
  const headers = [
    SNAPSHOT_ID_HEADER,
    snapshotId,
    DATA_AS_OF_HEADER,
    producedAt,
    'Cache-Control',
    isPartialView ? KEEP_NOTHING : REVALIDATE,
    'Vary',
    VARY,
  ];
  if (tag !== undefined) headers.push('ETag', tag);
  return headers;
}

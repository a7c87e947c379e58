import type { Response } from 'express';
import { DATA_AS_OF_HEADER, JSON_TYPE, SNAPSHOT_ID_HEADER, VARY } from '../../contract/headers.ts';
import type { SnapshotOrigin } from '../../store/organization-image.ts';
import type { HeaderList, Problem } from './problem.ts';

/**
 * The security headers of data. They are those that the OWASP REST Security Cheat Sheet recommends for every response
 * (https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html#security-headers), except Cache-Control
 * and Content-Type, which depend on the response. Browsers ignore Strict-Transport-Security without TLS.
 */
export const SECURITY_HEADERS = securityHeaders("default-src 'none'; frame-ancestors 'none'");

function securityHeaders(contentSecurityPolicy: string): HeaderList {
  return Object.entries({
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Frame-Options': 'DENY',
    'Strict-Transport-Security': 'max-age=31536000',
  }).flat();
}

/** Returns the security headers of a page and its files, with those that concern HTML only. */
export function securityHeadersOfPage(contentSecurityPolicy: string): HeaderList {
  const ofHtml = {
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  return [...securityHeaders(contentSecurityPolicy), ...Object.entries(ofHtml).flat()];
}

const REVALIDATE = 'private, no-cache';
/** Also for partial views, which must not be stored as complete offers. */
const DO_NOT_STORE = 'no-store';

export const NO_STORE: HeaderList = ['Cache-Control', DO_NOT_STORE];

export const CONTENT_TYPE: HeaderList = ['Content-Type', JSON_TYPE];

export interface Media {
  readonly contentType: HeaderList;
  readonly securityHeaders: HeaderList;
}

const JSON_MEDIA: Media = { contentType: CONTENT_TYPE, securityHeaders: SECURITY_HEADERS };

/** The pieces of a body, at least one. Bytes are mostly views of the store; text is ASCII. */
export type Body = readonly (Buffer | string)[];

const MAX_TEXT_BYTES = 4096;

/**
 * Sends a complete response, with the headers that all responses of the app carry.
 *
 * @param headers additional headers of this response
 * @param body a HEAD request gets only its length
 */
export function send(
  response: Response,
  status: number,
  headers: HeaderList,
  body?: Body,
  media?: Media,
): void {
  writeHead(response, status, headers, body, media);
  if (body === undefined || response.req.method === 'HEAD') {
    response.end();
    return;
  }
  // Head and text leave in one write. The encoding restores each byte. With bytes, throughput for one ticket is
  // 0.83 times (docs/performance.md).
  if (lengthOf(body) <= MAX_TEXT_BYTES) {
    let text = '';
    for (const piece of body) text += typeof piece === 'string' ? piece : piece.toString('latin1');
    response.end(text, 'latin1');
    return;
  }
  // Corked, head and pieces leave in one vectored write, without a copy. With a copy, throughput for a page of 25 is
  // 0.60 times.
  response.cork();
  const last = body.length - 1;
  for (let i = 0; i < last; i++) response.write(body[i], 'latin1');
  response.end(body[last], 'latin1');
}

export function writeHead(
  response: Response,
  status: number,
  headers: HeaderList,
  body?: Body,
  media = JSON_MEDIA,
): void {
  const { context } = response.locals;
  const all = [...media.securityHeaders, ...headers, ...context.headers];
  if (body !== undefined) {
    const length = lengthOf(body);
    all.push(...media.contentType, 'Content-Length', String(length));
    if (response.req.method !== 'HEAD') context.bytes = length;
  }
  response.writeHead(status, all);
}

export function lengthOf(body: Body): number {
  let length = 0;
  for (const piece of body) length += piece.length;
  return length;
}

export function sendProblem(response: Response, problem: Problem): void {
  response.locals.context.problem = problem;
  send(response, problem.status, [...NO_STORE, ...problem.headers], [problem.body]);
}

/** Returns the headers of responses about data of a snapshot, except the entity tag. */
export function dataHeaders({ snapshotId, producedAt }: SnapshotOrigin, isPartialView: boolean): string[] {
  return [
    SNAPSHOT_ID_HEADER,
    snapshotId,
    DATA_AS_OF_HEADER,
    producedAt,
    'Cache-Control',
    isPartialView ? DO_NOT_STORE : REVALIDATE,
    'Vary',
    VARY,
  ];
}

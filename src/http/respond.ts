import type { Response } from 'express';
import { IGNORED_PARAMETERS_HEADER, REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { Problem } from './problem.ts';
import { rateLimitHeaders } from './rate-limit.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Bytes one after the other, often of the store itself: nothing is copied to put an answer together. */
export type Body = readonly Uint8Array[];

export const NO_STORE: readonly string[] = ['Cache-Control', 'no-store'];

/**
 * Writes a whole response in one go. Every response of the app goes through here, so that what stands on all
 * of them is put together in one place, as the one list that Node writes without looking anything up.
 *
 * @param headers of this response: names and values in turn
 * @param body JSON text, in one piece at least; not sent in answer to HEAD, though its length is
 */
export function send(response: Response, status: number, headers: readonly string[], body?: Body): void {
  const { exchange } = response.locals;
  const list = [...SECURITY_HEADERS, REQUEST_ID_HEADER, exchange.requestId, ...headers];
  if (exchange.edition !== undefined) list.push(...exchange.edition.headers);
  if (response.req.rateLimit !== undefined) list.push(...rateLimitHeaders(response.req.rateLimit));
  if (exchange.ignoredParameters !== undefined) {
    list.push(IGNORED_PARAMETERS_HEADER, exchange.ignoredParameters);
  }
  if (body === undefined) {
    response.writeHead(status, list).end();
    return;
  }
  let length = 0;
  for (const piece of body) length += piece.length;
  list.push('Content-Type', 'application/json', 'Content-Length', String(length));
  response.writeHead(status, list);
  if (response.req.method === 'HEAD') {
    response.end();
  } else {
    exchange.bytes = length;
    write(response, body);
  }
}

/**
 * Head and pieces go to the system in one call. For a page of neighbours that costs no more than a body that stands
 * ready; to copy 100 kB of shared memory first would cost twice that.
 */
function write(response: Response, body: Body): void {
  const last = body.length - 1;
  response.cork();
  for (let i = 0; i < last; i++) response.write(body[i]);
  response.end(body[last]);
}

export function sendProblem(response: Response, { status, headers, body }: Problem): void {
  send(response, status, [...NO_STORE, ...headers], [body]);
}

import type { Response } from 'express';
import { IGNORED_PARAMETERS_HEADER, REQUEST_ID_HEADER } from '../contract/headers.ts';
import { joinHeads, NOTHING_PREPARED, prepareHead } from './prepared-head.ts';
import type { PreparedHead } from './prepared-head.ts';
import type { Problem } from './problem.ts';
import { rateLimitHeaders } from './rate-limit.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Bytes one after the other, often of the store itself: nothing is copied to put an answer together. */
export type Body = readonly Uint8Array[];

export const NO_STORE: readonly string[] = ['Cache-Control', 'no-store'];
export const NO_STORE_HEAD = prepareHead(NO_STORE);

const EVERY_HEAD = prepareHead(SECURITY_HEADERS);
const WITH_BODY_HEAD = prepareHead([...SECURITY_HEADERS, 'Content-Type', 'application/json']);

/**
 * Writes a whole response in one go. Every response of the app goes through here, so that what stands on all
 * of them is put together in one place.
 *
 * @param head headers that other responses have as well
 * @param headers those of this one: names and values in turn
 * @param body JSON text, in one piece at least; not sent in answer to HEAD, though its length is
 */
export function send(
  response: Response,
  status: number,
  head: PreparedHead,
  headers: readonly string[] = [],
  body?: Body,
): void {
  const { exchange } = response.locals;
  response.preparedHead = joinHeads(
    body === undefined ? EVERY_HEAD : WITH_BODY_HEAD,
    exchange.edition?.head ?? NOTHING_PREPARED,
    head,
  );
  const list = [REQUEST_ID_HEADER, exchange.requestId, ...headers];
  if (exchange.rateLimit !== undefined) list.push(...rateLimitHeaders(exchange.rateLimit));
  if (exchange.ignoredParameters !== undefined) {
    list.push(IGNORED_PARAMETERS_HEADER, exchange.ignoredParameters);
  }
  if (body === undefined) {
    response.writeHead(status, list).end();
    return;
  }
  let length = 0;
  for (const piece of body) length += piece.length;
  list.push('Content-Length', String(length));
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
  send(response, status, NO_STORE_HEAD, headers, [body]);
}

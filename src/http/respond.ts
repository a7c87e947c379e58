import type { Response } from 'express';
import { IGNORED_PARAMETERS_HEADER, REQUEST_ID_HEADER } from '../contract/headers.ts';
import { sliceOf } from '../store/slice.ts';
import { headerLine, joinHeads, NOTHING_PREPARED, prepareHead } from './prepared-head.ts';
import type { PreparedHead } from './prepared-head.ts';
import { lengthOf } from './prepared-response.ts';
import type { Body } from './prepared-response.ts';
import type { Problem } from './problem.ts';
import { rateLimitHead } from './rate-limit.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export const NO_STORE: readonly string[] = ['Cache-Control', 'no-store'];
export const NO_STORE_HEAD = prepareHead(NO_STORE);

const EVERY_HEAD = prepareHead(SECURITY_HEADERS);
const WITH_BODY_HEAD = prepareHead([...SECURITY_HEADERS, 'Content-Type', 'application/json']);

/**
 * Writes a whole response in one go. Every response of the app goes through here, so that what stands on all
 * of them is put together in one place.
 *
 * @param head headers of this response
 * @param body JSON text, in one piece at least; not sent in answer to HEAD, though its length is
 */
export function send(response: Response, status: number, head: PreparedHead, body?: Body): void {
  const { edition, requestId, rateLimit, ignoredParameters } = response.locals.exchange;
  response.preparedHead = joinHeads(
    body === undefined ? EVERY_HEAD : WITH_BODY_HEAD,
    edition?.head ?? NOTHING_PREPARED,
    head,
    headerLine(REQUEST_ID_HEADER, requestId),
    rateLimit === undefined ? NOTHING_PREPARED : rateLimitHead(rateLimit),
    ignoredParameters === undefined
      ? NOTHING_PREPARED
      : headerLine(IGNORED_PARAMETERS_HEADER, ignoredParameters),
  );
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  const length = lengthOf(body);
  response.writeHead(status, ['Content-Length', String(length)]);
  if (response.req.method === 'HEAD') {
    response.end();
  } else {
    response.locals.exchange.bytes = length;
    response.endWith(body, length);
  }
}

export function sendProblem(response: Response, { status, head, body }: Problem): void {
  send(response, status, joinHeads(NO_STORE_HEAD, head), [sliceOf(body)]);
}

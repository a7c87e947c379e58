import type { Request, Response } from 'express';
import { Problem } from './response/problem.ts';
import { NO_STORE, writeHead } from './response/send.ts';

/**
 * No operation uses a request body, and the listener answers a request before its body arrives. Node discards the body
 * of an answered request to its end, so only a short one of known length is left to it.
 */
const MAX_BODY_BYTES = 65_536;
/** Bytes of a refused body that are read, so that clients that send them first get the response. */
const MAX_READ_BYTES = 3 * MAX_BODY_BYTES;
/** Time for which a refused client may read the response before its connection closes. */
const LINGER_MS = 1000;

const BODY_TOO_LARGE = new Problem(413, 'The request body is too large; send no body.');
// RFC 9112, section 6.3: without `chunked` as the last coding, the length of the body is unknown.
const INVALID_CODING = new Problem(400, 'Transfer-Encoding must end in "chunked"; send no body.');

/** Returns the problem of a body that is long or of unknown length; undefined without one. */
export function bodyProblem({ headers }: Request): Problem | undefined {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) return /(?:^|[ \t,])chunked$/i.test(coding) ? BODY_TOO_LARGE : INVALID_CODING;
  return Number(headers['content-length']) > MAX_BODY_BYTES ? BODY_TOO_LARGE : undefined;
}

/**
 * Refuses a request because of its body, and closes the connection. A close with unread bytes resets the connection,
 * and the reset may overtake the response. Therefore the whole response is written at once, and the connection closes
 * when the body has ended, or after a time. Less than 256 kB of a longer body are read.
 */
export function refuseBody(response: Response, problem: Problem): void {
  const { req: request } = response;
  const { connection } = response.locals.context;
  response.setHeader('Connection', 'close');
  response.locals.context.problem = problem;
  writeHead(response, problem.status, [...NO_STORE, ...problem.headers], [problem.body]);
  response.flushHeaders();
  response.write(problem.body);
  let left = MAX_READ_BYTES;
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) connection.pause('body');
  });
  request.on('end', () => response.end());
  const timer = setTimeout(() => response.end(), LINGER_MS);
  response.on('close', () => {
    clearTimeout(timer);
  });
}

import { ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import type { IncomingMessage } from 'node:http';

declare const checked: unique symbol;

/** Headers as the lines of a response that they become, known to be well-formed. */
export type PreparedHead = string & { readonly [checked]: true };

/**
 * Checks headers once that stand on many responses. Node checks each header of each response, and finds fifteen that
 * never change as long as a good part of what else an answer takes.
 *
 * @param headers names and values in turn
 * @throws TypeError when one is not fit for a head
 */
export function prepareHead(headers: readonly string[]): PreparedHead {
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) {
    validateHeaderName(headers[i]);
    validateHeaderValue(headers[i], headers[i + 1]);
    lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  }
  // Every line of it was checked.
  return lines as PreparedHead;
}

export const NOTHING_PREPARED = prepareHead([]);

export function joinHeads(first: PreparedHead, second: PreparedHead, third: PreparedHead): PreparedHead {
  return (first + second + third) as PreparedHead;
}

/** The step of Node that makes the text of a head, beginning with the status line that it is given. */
interface HeadMaker {
  _storeHeader(statusLine: string, headers: unknown): void;
}

function isHeadMaker(prototype: object): prototype is HeadMaker {
  return '_storeHeader' in prototype && typeof prototype._storeHeader === 'function';
}

const node: object = ServerResponse.prototype;
if (!isHeadMaker(node))
  throw new Error(`Node ${process.version} makes the heads of responses in another way`);
const headMaker = node;

/**
 * A response that has prepared headers beside those given to `writeHead`. They follow the status line; Node goes on
 * from there as always, and sees to all that depends on the connection. None of them may be one that Node looks for
 * itself: Content-Length, Transfer-Encoding, Connection, Date, Expect, Trailer.
 */
export class PreparedResponse<R extends IncomingMessage> extends ServerResponse<R> {
  preparedHead = NOTHING_PREPARED;

  _storeHeader(statusLine: string, headers: unknown): void {
    headMaker._storeHeader.call(this, statusLine + this.preparedHead, headers);
  }
}

declare module 'express-serve-static-core' {
  interface Response {
    preparedHead: PreparedHead;
  }
}

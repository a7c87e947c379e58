import type { Request, Response } from 'express';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import { concludeExchange } from './conclude-exchange.ts';
import type { Editions } from './editions.ts';
import { Exchange } from './exchange.ts';
import { isApiTarget } from './path.ts';
import { Problem } from './problem.ts';
import { requestIdOf } from './request-id.ts';
import type { RequestLog } from './request-log.ts';
import type { Tally } from './tally.ts';
import { editionToTell } from './versions.ts';

const REQUEST_ID_KEY = REQUEST_ID_HEADER.toLowerCase();
// RFC 9112, section 3.2.
const HOST_MISSING = new Problem(400, 'A request of HTTP/1.1 needs a Host header.');

/** What comes before everything: what every response tells, and that it is logged and counted in the end. */
export function beginExchange(
  clock: () => number,
  editions: Editions,
  log: RequestLog,
  tally: Tally,
): (request: Request, response: Response) => void {
  const conclude = concludeExchange(log, tally);
  return (request, response) => {
    const exchange = new Exchange(requestIdOf(request.headers[REQUEST_ID_KEY]), clock());
    response.locals.exchange = exchange;
    if (isApiTarget(request.url)) exchange.edition = editionToTell(request, editions, exchange.now);
    response.on('close', conclude);
    if (request.headers.host === undefined && request.httpVersion === '1.1') throw HOST_MISSING;
  };
}

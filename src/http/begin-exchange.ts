import type { Request, Response } from 'express';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import { concludeExchange } from './conclude-exchange.ts';
import type { Editions } from './editions.ts';
import { Exchange } from './exchange.ts';
import { isApiTarget } from './path.ts';
import { requestIdOf } from './request-id.ts';
import type { RequestLog } from './request-log.ts';
import type { Tally } from './tally.ts';
import { editionToTell } from './versions.ts';

const REQUEST_ID_KEY = REQUEST_ID_HEADER.toLowerCase();

/** Begins a request: notes its time, id and version, and has it logged and counted when its response is closed. */
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
  };
}

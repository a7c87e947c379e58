import type { Response } from 'express';
import type { RequestLog } from './request-log.ts';
import type { Tally } from './tally.ts';

/**
 * Logs the response that it is called on in one line, and counts it, when that is closed: sent, or given up by the
 * caller. Nothing of what was asked for is in the line but the operation: paths and queries hold ids and e-mail
 * addresses.
 */
export function concludeExchange(log: RequestLog, tally: Tally): (this: Response) => void {
  return function () {
    const { requestId, organizationId, keyId, operation, edition, later, startedAt, bytes, rows } =
      this.locals.exchange;
    const { statusCode: status, writableFinished: sent } = this;
    const elapsedMs = performance.now() - startedAt;
    const durationMs = Math.round(elapsedMs * 1000) / 1000;
    tally.countRequest({ operation, status, version: edition?.version, later, seconds: elapsedMs / 1000 });
    log.write({ requestId, organizationId, keyId, operation, status, durationMs, rows, bytes, sent });
  };
}

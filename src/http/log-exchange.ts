import type { Response } from 'express';
import type { Logger } from 'pino';

/**
 * Writes one line for the response that it is called on, when that is closed: sent, or given up by the caller.
 * Nothing of what was asked for is in it but the operation: paths and queries hold ids and e-mail addresses.
 */
export function logExchange(log: Logger): (this: Response) => void {
  return function () {
    const { requestId, organizationId, operation, startedAt, bytes } = this.locals.exchange;
    const { statusCode: status, writableFinished: sent } = this;
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000;
    log.info(
      {
        requestId,
        ...(organizationId !== '' && { organizationId }),
        operation,
        status,
        durationMs,
        bytes,
        ...(!sent && { sent }),
      },
      'request',
    );
  };
}

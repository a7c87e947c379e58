import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { NO_SUCH_PATH, problemOf, UNEXPECTED } from './problem.ts';
import { sendProblem } from './send.ts';

export const noSuchPath: RequestHandler = () => {
  throw NO_SUCH_PATH;
};

/** The one place where errors of all layers become a status. */
export function fail(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const problem = problemOf(error);
    const { context } = response.locals;
    const { requestId, operation } = context;
    context.later = problem?.later;
    if (problem === undefined) log.error({ err: error, requestId, operation }, 'unexpected error');
    // A response that has begun cannot become another: Express ends its connection.
    if (response.headersSent) next(error);
    else sendProblem(response, problem ?? UNEXPECTED);
  };
}

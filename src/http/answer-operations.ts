import type { RequestHandler } from 'express';
import { OPERATIONS } from '../contract/operations.ts';
import type { Operation } from '../contract/operations.ts';
import { admit } from './admit.ts';
import type { Gatekeepers } from './admit.ts';
import { answerList } from './answer-list.ts';
import { answerRecord } from './answer-record.ts';
import { isRead, otherMethods } from './methods.ts';
import { Routes } from './routes.ts';
import type { Answer, Sources } from './sources.ts';
import { pathOf } from './target.ts';

/**
 * Answers all operations of the API, and leaves other paths to what comes after it.
 *
 * One handler for all steps of a request: from one of its own to the next Express takes as long as most of them do.
 */
export function answerOperations(
  gatekeepers: Gatekeepers,
  limit: RequestHandler,
  sources: Sources,
): RequestHandler {
  const answerOf = (operation: Operation): Answer =>
    operation.kind === 'list' ? answerList(operation, sources) : answerRecord(operation, sources);
  const routes = new Routes(
    OPERATIONS.map((operation) => [operation.path, { operation, answer: answerOf(operation) }]),
  );
  return (request, response, next) => {
    const found = routes.find(pathOf(request.url));
    if (found === undefined) {
      next();
      return;
    }
    const { target, parameter } = found;
    if (!isRead(request.method)) {
      otherMethods(request, response, next);
      return;
    }
    admit(target.operation, gatekeepers, request, response);
    void limit(request, response, (error?: unknown) => {
      if (error === undefined) target.answer(request, response, parameter);
      else next(error);
    });
  };
}

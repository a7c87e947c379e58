import type { RequestHandler } from 'express';
import type { Operation } from '../contract/operations.ts';
import { admit } from './admit.ts';
import type { Gatekeepers } from './admit.ts';
import { answerList } from './answer-list.ts';
import { answerRecord } from './answer-record.ts';
import type { Sources } from './sources.ts';

/** Answers an operation: the checks of every request to the API in their order, then those of the operation itself. */
export function answerOperation(
  operation: Operation,
  gatekeepers: Gatekeepers,
  limit: RequestHandler,
  sources: Sources,
): RequestHandler {
  const answer =
    operation.kind === 'list' ? answerList(operation, sources) : answerRecord(operation, sources);
  return (request, response, next) => {
    admit(operation, gatekeepers, request, response);
    void limit(request, response, (error?: unknown) => {
      if (error === undefined) answer(request, response);
      else next(error);
    });
  };
}

import type { RequestHandler } from 'express';
import { Problem } from '../response/problem.ts';
import type { HeaderList } from '../response/problem.ts';
import { NO_STORE, send } from '../response/send.ts';

const ALLOW: HeaderList = ['Allow', 'GET, HEAD, OPTIONS'];
const OPTIONS_HEADERS: HeaderList = [...NO_STORE, ...ALLOW];

export const METHOD_NOT_ALLOWED = new Problem(405, 'Only GET, HEAD and OPTIONS are defined here.', {
  headers: ALLOW,
});

/** Answers the methods of a path that are not GET or HEAD. */
export const otherMethods: RequestHandler = (request, response) => {
  if (request.method !== 'OPTIONS') throw METHOD_NOT_ALLOWED;
  send(response, 204, OPTIONS_HEADERS);
};

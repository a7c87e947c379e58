import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { matchesAnyTag, matchesTag } from '../response/etag.ts';
import { ALLOW, type HeaderList, METHOD_NOT_ALLOWED } from '../response/problem.ts';
import { NO_STORE, send } from '../response/send.ts';

const CACHE_FIVE_MINUTES: HeaderList = ['Cache-Control', 'public, max-age=300'];

/** Creates the handler of a document that does not change while the process runs. */
export function documentHandler(document: object): RequestHandler {
  const text = Buffer.from(JSON.stringify(document));
  const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  const headers = [...CACHE_FIVE_MINUTES, 'ETag', tag];
  return (request, response) => {
    const condition = request.headers['if-none-match'];
    if (matchesTag(condition, tag) || matchesAnyTag(condition)) send(response, 304, headers);
    else send(response, 200, headers, [text]);
  };
}

const ALIVE = [JSON.stringify({ status: 'ok' })];

/** Reports that the process responds. */
export const healthHandler: RequestHandler = (_request, response) => {
  send(response, 200, NO_STORE, ALIVE);
};

const OPTIONS_HEADERS: HeaderList = [...NO_STORE, ...ALLOW];

/** Handles all methods of a path other than GET and HEAD. */
export const otherMethodsHandler: RequestHandler = (request, response) => {
  if (request.method !== 'OPTIONS') throw METHOD_NOT_ALLOWED;
  send(response, 204, OPTIONS_HEADERS);
};

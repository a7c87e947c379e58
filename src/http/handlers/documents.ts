import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { namesAny, namesTag } from '../response/etag.ts';
import type { HeaderList } from '../response/problem.ts';
import { NO_STORE, send } from '../response/send.ts';

const CACHE_FIVE_MINUTES: HeaderList = ['Cache-Control', 'public, max-age=300'];

/** Answers with a document that does not change while the process runs. */
export function answerDocument(document: object): RequestHandler {
  const text = Buffer.from(JSON.stringify(document));
  const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  const headers = [...CACHE_FIVE_MINUTES, 'ETag', tag];
  return (request, response) => {
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag) || namesAny(condition)) send(response, 304, headers);
    else send(response, 200, headers, [text]);
  };
}

const ALIVE = [JSON.stringify({ status: 'ok' })];

/** Tells that the process answers. */
export const answerHealth: RequestHandler = (_request, response) => {
  send(response, 200, NO_STORE, ALIVE);
};

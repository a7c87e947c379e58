import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { sliceOf } from '../store/slice.ts';
import { namesAny, namesTag } from './etag.ts';
import { prepareHead } from './prepared-head.ts';
import { NO_STORE_HEAD, send } from './respond.ts';

const CACHE_FIVE_MINUTES: readonly string[] = ['Cache-Control', 'public, max-age=300'];

/** Answers with a document that does not change while the process runs. */
export function answerDocument(document: object): RequestHandler {
  const text = Buffer.from(JSON.stringify(document));
  const body = [sliceOf(text)];
  const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  const head = prepareHead([...CACHE_FIVE_MINUTES, 'ETag', tag]);
  return (request, response) => {
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag) || namesAny(condition)) send(response, 304, head);
    else send(response, 200, head, body);
  };
}

const ALIVE = [JSON.stringify({ status: 'ok' })];

/** Tells that the process answers. */
export const answerHealth: RequestHandler = (_request, response) => {
  send(response, 200, NO_STORE_HEAD, ALIVE);
};

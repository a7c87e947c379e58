import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { CONTENT_CODINGS } from '../../contract/headers.ts';
import { codingHeaders, compress, type Compression } from '../response/compression.ts';
import { codedTag, matchedTag, matchesAnyTag } from '../response/etag.ts';
import { ALLOW, type HeaderList, METHOD_NOT_ALLOWED } from '../response/problem.ts';
import { NO_STORE, send } from '../response/send.ts';

const CACHE_FIVE_MINUTES: HeaderList = ['Cache-Control', 'public, max-age=300', 'Vary', 'Accept-Encoding'];

/** Creates the handler of a document that does not change while the process runs. It is compressed once. */
export function documentHandler(document: object, compression: Compression): RequestHandler {
  const text = Buffer.from(JSON.stringify(document));
  const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  const plain = { tag, headers: [...CACHE_FIVE_MINUTES, 'ETag', tag], body: [text] };
  const coded = new Map(
    CONTENT_CODINGS.map((coding) => [
      coding,
      {
        tag: codedTag(tag, coding),
        headers: [...CACHE_FIVE_MINUTES, ...codingHeaders(coding, tag)],
        body: [compress(coding, [text])],
      },
    ]),
  );
  return (request, response) => {
    const coding = compression.codingOf(request);
    const selected = (coding && coded.get(coding)) ?? plain;
    const condition = request.headers['if-none-match'];
    // Shared caches may store the document, so that a tag confirms its own content coding only.
    if (matchedTag(condition, selected.tag, []) !== undefined || matchesAnyTag(condition))
      send(response, 304, selected.headers);
    else send(response, 200, selected.headers, selected.body);
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

import { hash } from 'node:crypto';
import type { Express, RequestHandler } from 'express';
import type { ContentCoding } from '../../contract/headers.ts';
import type { Page } from '../../pages/page.ts';
import { CODECS, type Compression } from '../response/compression.ts';
import { codedTag, codingHeaders, matchedTag, matchesAnyTag } from '../response/etag.ts';
import { ALLOW, type HeaderList, METHOD_NOT_ALLOWED } from '../response/problem.ts';
import { type Media, NO_STORE, securityHeadersOfPage, send } from '../response/send.ts';

/** A document that does not change while the process runs, and needs no key. */
export interface Document {
  /** Returns the content. Called once, at the first request. */
  readonly read: () => Buffer;
  readonly cacheControl: string;
  /** Default: JSON. */
  readonly media?: Media;
}

/** Creates the handler of a document. The document is compressed once for each content coding. */
export function documentHandler(document: Document, compression: Compression): RequestHandler {
  const { read, cacheControl, media } = document;
  const cacheHeaders: HeaderList = ['Cache-Control', cacheControl, 'Vary', 'Accept-Encoding'];
  const coded = new Map<ContentCoding, Promise<Buffer>>();
  let text: Buffer | undefined;
  let tag: string | undefined;

  return async (request, response) => {
    text ??= read();
    tag ??= `"${hash('sha256', text, 'base64url')}"`;
    const coding = compression.codingOf(request);
    const headers = [...cacheHeaders, ...codingHeaders(coding, tag)];
    const condition = request.headers['if-none-match'];
    const selectedTag = codedTag(tag, coding);
    // Shared caches may store the document, so that a tag confirms its own content coding only.
    if (matchedTag(condition, selectedTag, []) !== undefined || matchesAnyTag(condition)) {
      send(response, 304, headers, undefined, media);
      return;
    }
    let body = text;
    if (coding !== undefined) {
      const compressed = coded.get(coding) ?? CODECS[coding].compressInPool(text);
      coded.set(coding, compressed);
      body = await compressed;
      if (request.socket.destroyed) return;
    }
    // All responses share the body.
    response.locals.context.connection.sharedBytes = body.length;
    send(response, 200, headers, [body], media);
  };
}

/** Adds the routes of a page and its files. They need no key. */
export function addPage(app: Express, page: Page, compression: Compression): void {
  const securityHeaders = securityHeadersOfPage(page.contentSecurityPolicy);
  for (const { path, contentType, read } of [page.document, ...page.files]) {
    const media: Media = { contentType: ['Content-Type', contentType], securityHeaders };
    // Pages change with the program: a browser asks each time, and usually gets 304.
    const handler = documentHandler({ read, cacheControl: 'no-cache', media }, compression);
    app.route(`/${path}`).get(handler).all(otherMethodsHandler);
  }
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

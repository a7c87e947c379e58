import type { Express } from 'express';
import type { Page, PageFile } from '../../pages/page.ts';
import type { Compression } from '../response/compression.ts';
import { type Media, securityHeadersOfPage } from '../response/send.ts';
import { documentHandler, otherMethodsHandler } from './documents.ts';

/** Pages change with the program: a browser asks each time, and usually gets 304. */
const CACHE_CONTROL = 'no-cache';

/** Adds the routes of a page and its files. They need no key. */
export function addPage(app: Express, page: Page, compression: Compression): void {
  for (const file of [page.document, ...page.files]) {
    const handler = documentHandler(
      { read: file.read, cacheControl: CACHE_CONTROL, media: mediaOf(page, file) },
      compression,
    );
    app.route(`/${file.path}`).get(handler).all(otherMethodsHandler);
  }
}

function mediaOf({ contentSecurityPolicy }: Page, { contentType }: PageFile): Media {
  return {
    contentType: ['Content-Type', contentType],
    securityHeaders: securityHeadersOfPage(contentSecurityPolicy),
  };
}

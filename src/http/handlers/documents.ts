import { hash } from 'node:crypto';
import type { Express, RequestHandler } from 'express';
import type { Config } from '../../config.ts';
import { type ContentCoding, JSON_TYPE, MAX_ACCEPT_LENGTH } from '../../contract/headers.ts';
import { inOpenApi30 } from '../../contract/openapi/openapi-3.0.ts';
import { openApiDocument } from '../../contract/openapi/document.ts';
import { PUBLIC_PATHS, type PublicPathName, SERVICE } from '../../contract/openapi/public-paths.ts';
import type { Release } from '../../contract/releases.ts';
import { type Page, pageOf } from '../../pages/page.ts';
import { CODECS, type Compression } from '../response/compression.ts';
import { codedTag, codingHeaders, matchedTag, matchesAnyTag } from '../response/etag.ts';
import { ALLOW, type HeaderList, METHOD_NOT_ALLOWED } from '../response/problem.ts';
import { type Media, NO_STORE, securityHeadersOfPage, send } from '../response/send.ts';

/**
 * Creates the handler of a document, which does not change while the process runs, and needs no key. It is compressed
 * once for each content coding.
 * @param read returns the content; called once, at the first request
 * @param media default: JSON
 */
function documentHandler(
  compression: Compression,
  cacheControl: string,
  read: () => Buffer,
  media?: Media,
): RequestHandler {
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

function addPage(app: Express, page: Page, compression: Compression): void {
  const securityHeaders = securityHeadersOfPage(page.contentSecurityPolicy);
  for (const { path, contentType, read } of [page.document, ...page.files]) {
    const media: Media = { contentType: ['Content-Type', contentType], securityHeaders };
    // Pages change with the program: a browser asks each time, and usually gets 304.
    const handler = documentHandler(compression, 'no-cache', read, media);
    app.route(`/${path}`).get(handler).all(otherMethodsHandler);
  }
}

const ALIVE = [JSON.stringify({ status: 'ok' })];

export const healthHandler: RequestHandler = (_request, response) => {
  send(response, 200, NO_STORE, ALIVE);
};

const OPTIONS_HEADERS: HeaderList = [...NO_STORE, ...ALLOW];

export const otherMethodsHandler: RequestHandler = (request, response) => {
  if (request.method !== 'OPTIONS') throw METHOD_NOT_ALLOWED;
  send(response, 204, OPTIONS_HEADERS);
};

/** The pages, which have a switch each in the configuration. */
const PAGE_NAMES = ['docs', 'explorer'] as const;

/**
 * Adds the routes that describe the service, if they are served: its addresses, its OpenAPI document, and the pages that
 * read it. Returns the addresses at which the API is described.
 */
export function addDocumentation(
  app: Express,
  config: Pick<Config, 'publicBaseUrl' | (typeof PAGE_NAMES)[number]>,
  releases: readonly Release[],
  compression: Compression,
): readonly string[] {
  const { docs, explorer, publicBaseUrl = '' } = config;
  if (!docs) return [];
  const pages = PAGE_NAMES.filter((name) => config[name]);
  const paths = ['index', 'health', 'openApi', 'openApi30', ...pages, 'guide'] as const;
  const document = () => openApiDocument(releases, config.publicBaseUrl, paths);
  for (const [name, read] of [
    ['openApi', document],
    ['openApi30', () => inOpenApi30(document())],
  ] as const) {
    const handler = documentHandler(compression, 'public, max-age=300', () =>
      Buffer.from(JSON.stringify(read())),
    );
    app.route(PUBLIC_PATHS[name]).get(handler).all(otherMethodsHandler);
  }
  for (const name of pages) addPage(app, pageOf(name), compression);

  const addressOf = (name: PublicPathName) => publicBaseUrl + PUBLIC_PATHS[name];
  const addresses = {
    ...Object.fromEntries(pages.map((name) => [name, addressOf(name)])),
    guide: addressOf('guide'),
    openapi: addressOf('openApi'),
    health: addressOf('health'),
  };
  app.route(PUBLIC_PATHS.index).get(homeHandler(addresses, explorer)).all(otherMethodsHandler);
  return [addressOf('openApi'), addressOf('docs')];
}

const HTML_TYPE = 'text/html';
const MEDIA_TYPES = [JSON_TYPE, HTML_TYPE];
const HOME_HEADERS: HeaderList = [...NO_STORE, 'Vary', 'Accept'];

/** Creates the handler of `/`, which names the service and its public addresses, or leads browsers to the explorer. */
function homeHandler(addresses: Readonly<Record<string, string>>, hasExplorer: boolean): RequestHandler {
  const body = [JSON.stringify({ ...SERVICE, ...addresses })];
  return (request, response) => {
    const { accept = '' } = request.headers;
    if (hasExplorer && accept.length <= MAX_ACCEPT_LENGTH && request.accepts(MEDIA_TYPES) === HTML_TYPE)
      send(response, 302, [...HOME_HEADERS, 'Location', 'explorer'], body);
    else send(response, 200, HOME_HEADERS, body);
  };
}

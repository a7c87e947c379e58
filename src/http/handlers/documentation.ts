import type { Express, RequestHandler } from 'express';
import { JSON_TYPE } from '../../contract/headers.ts';
import { openApiDocument } from '../../contract/openapi/document.ts';
import { PUBLIC_PATHS, type PublicPath } from '../../contract/openapi/public-paths.ts';
import type { Operation } from '../../contract/operations.ts';
import type { Release } from '../../contract/releases.ts';
import { pageOf } from '../../pages/page.ts';
import type { Compression } from '../response/compression.ts';
import type { HeaderList } from '../response/problem.ts';
import { NO_STORE, PUBLIC_JSON_MEDIA, send } from '../response/send.ts';
import { type Document, documentHandler, otherMethodsHandler } from './documents.ts';
import { addPage } from './pages.ts';

export interface DocumentationConfig {
  readonly publicBaseUrl: string | undefined;
  /** Whether the documentation is served. */
  readonly docs: boolean;
  /** Whether the explorer is served. It needs the documentation. */
  readonly explorer: boolean;
}

/** The API that is served. */
interface Contract {
  readonly operations: readonly Operation[];
  readonly releases: readonly Release[];
}

/** The pages, which have a switch each in the configuration. */
const PAGE_NAMES = ['docs', 'explorer'] as const;

/** Adds the routes that describe the service: its addresses, its OpenAPI document, and the pages that read it. */
export function addDocumentation(
  app: Express,
  config: DocumentationConfig,
  contract: Contract,
  compression: Compression,
): void {
  const { operations, releases } = contract;
  const { index, health, openApi } = PUBLIC_PATHS;
  const pages = PAGE_NAMES.filter((name) => config[name]);
  const publicPaths = [index, health, openApi, ...pages.map((name) => PUBLIC_PATHS[name])];
  const document: Document = {
    read: () =>
      Buffer.from(JSON.stringify(openApiDocument(releases, config.publicBaseUrl, publicPaths, operations))),
    cacheControl: 'public, max-age=300',
    media: PUBLIC_JSON_MEDIA,
  };
  app.route(openApi.path).get(documentHandler(document, compression)).all(otherMethodsHandler);
  for (const name of pages) addPage(app, pageOf(name), compression);

  const addresses = {
    ...Object.fromEntries(pages.map((name) => [name, addressOf(PUBLIC_PATHS[name], config)])),
    openapi: addressOf(openApi, config),
    health: addressOf(health, config),
  };
  const home = config.explorer ? 'explorer' : undefined;
  app.route(index.path).get(homeHandler(addresses, home)).all(otherMethodsHandler);
}

/** Returns the addresses at which the API is described, for a request of an unknown path. */
export function descriptionsOf(config: DocumentationConfig): string[] {
  return config.docs ? [PUBLIC_PATHS.openApi, PUBLIC_PATHS.docs].map((each) => addressOf(each, config)) : [];
}

function addressOf({ path }: PublicPath, { publicBaseUrl = '' }: DocumentationConfig): string {
  return publicBaseUrl + path;
}

const HTML_TYPE = 'text/html';
/** JSON is the default, such as for a request without `Accept`. */
const MEDIA_TYPES = [JSON_TYPE, HTML_TYPE];
const HOME_HEADERS: HeaderList = [...NO_STORE, 'Vary', 'Accept'];

/**
 * Creates the handler of `/`, which names the service and lists its public addresses.
 * @param page URL, relative to `/`, of the page to which browsers are redirected; undefined for none
 */
function homeHandler(addresses: Readonly<Record<string, string>>, page: string | undefined): RequestHandler {
  const body = [JSON.stringify({ name: 'Foyer', description: 'Event ticketing read API', ...addresses })];
  return (request, response) => {
    if (page !== undefined && request.accepts(MEDIA_TYPES) === HTML_TYPE)
      send(response, 302, [...HOME_HEADERS, 'Location', page], body);
    else send(response, 200, HOME_HEADERS, body);
  };
}

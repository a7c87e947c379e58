import type { Express, RequestHandler } from 'express';
import type { Config } from '../../config.ts';
import { JSON_TYPE } from '../../contract/headers.ts';
import { PUBLIC_PATHS, type PublicPathName } from '../../contract/public-paths.ts';
import { pageOf } from '../../pages/page.ts';
import type { Compression } from '../response/compression.ts';
import type { HeaderList } from '../response/problem.ts';
import { NO_STORE, send } from '../response/send.ts';
import { addPage, type Document, documentHandler, otherMethodsHandler } from './documents.ts';

export type DocumentationConfig = Pick<Config, 'publicBaseUrl' | 'docs' | 'explorer'>;

/** The pages, which have a switch each in the configuration. */
const PAGE_NAMES = ['docs', 'explorer'] as const;

/**
 * Adds the routes that describe the service, if they are served: its addresses, its OpenAPI document, and the pages that
 * read it. Returns the addresses at which the API is described.
 * @param describe returns the OpenAPI document with these public paths
 */
export function addDocumentation(
  app: Express,
  config: DocumentationConfig,
  describe: (publicPaths: readonly PublicPathName[]) => object,
  compression: Compression,
): readonly string[] {
  const { docs, explorer, publicBaseUrl = '' } = config;
  if (!docs) return [];
  const pages = PAGE_NAMES.filter((name) => config[name]);
  const document: Document = {
    read: () => Buffer.from(JSON.stringify(describe(['index', 'health', 'openApi', ...pages]))),
    cacheControl: 'public, max-age=300',
  };
  app.route(PUBLIC_PATHS.openApi).get(documentHandler(document, compression)).all(otherMethodsHandler);
  for (const name of pages) addPage(app, pageOf(name), compression);

  const addressOf = (name: PublicPathName) => publicBaseUrl + PUBLIC_PATHS[name];
  const addresses = {
    ...Object.fromEntries(pages.map((name) => [name, addressOf(name)])),
    openapi: addressOf('openApi'),
    health: addressOf('health'),
  };
  const home = explorer ? 'explorer' : undefined;
  app.route(PUBLIC_PATHS.index).get(homeHandler(addresses, home)).all(otherMethodsHandler);
  return [addressOf('openApi'), addressOf('docs')];
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

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { givenBrowser } from './support/browser.ts';
import { givenSite } from '../support/site.ts';

/** What a script of a page can read of a response, or the error of `fetch`. */
interface Seen {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly error?: string;
}

/** Sends a request from a page, as its scripts do. */
function fetchFrom(page: Page, url: string, headers: Readonly<Record<string, string>>): Promise<Seen> {
  return page.evaluate(
    async ([target, sent]) => {
      try {
        const response = await fetch(target, { headers: sent });
        const text = await response.text();
        return { status: response.status, headers: Object.fromEntries(response.headers), text };
      } catch (error) {
        return { error: String(error) };
      }
    },
    [url, headers] as const,
  );
}

describe('A page of another origin', () => {
  let pages: Server;
  let origin: string;
  /** Read when the site starts, after the port of the pages is known. */
  const environment: Record<string, string> = {};

  before(async () => {
    pages = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><link rel="icon" href="data:,">');
    });
    await once(pages.listen(0, '127.0.0.1'), 'listening');
    const { port } = pages.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    environment['CORS_ORIGINS'] = `https://app.example.org,${origin}`;
  });
  after(() => {
    pages.close();
  });

  const given = givenSite(environment);
  const chromium = givenBrowser();

  /** Opens a page, and sends requests to the API from it. */
  function visit<T>(
    url: string,
    use: (
      send: (target: string, headers?: Record<string, string | undefined>) => Promise<Seen>,
    ) => Promise<T>,
  ) {
    const { replica, credential } = given.site;
    const authorization = { Authorization: `Bearer ${credential}` };
    return chromium.browser.visit(
      url,
      (page) =>
        use((target, headers) => fetchFrom(page, replica.origin + target, { ...authorization, ...headers })),
      {},
      [/^request to /, /^Failed to load resource/, /blocked by CORS policy/],
    );
  }

  it('reads data, headers, errors and streams if CORS_ORIGINS has the origin', async () => {
    await visit(origin, async (send) => {
      const page = await send('/v1/tickets?perPage=2', { 'Service-API-Version': 'stable' });
      expect(page.status).to.equal(200);
      expect(page.headers).to.include.keys(
        ...['etag', 'x-request-id', 'service-api-version', 'service-data-as-of'],
      );
      const unchanged = await send('/v1/tickets?perPage=2', { 'If-None-Match': page.headers?.['etag'] });
      expect(unchanged.status).to.equal(304);
      const stream = await send('/v1/events', { Accept: 'application/x-ndjson' });
      expect(stream.text?.match(/\n/g)).to.have.length(Number(stream.headers?.['service-record-count']));
      const invalid = await send('/v1/tickets?page=0');
      expect(invalid.status).to.equal(400);
      expect(invalid.text).to.include('query.page');
    });
  });

  it('reads the OpenAPI document, and nothing else, if CORS_ORIGINS lacks the origin', async () => {
    await visit(origin.replace('127.0.0.1', 'localhost'), async (send) => {
      expect(await send('/openapi.json')).to.have.property('status', 200);
      expect(await send('/v1/tickets')).to.deep.equal({ error: 'TypeError: Failed to fetch' });
      expect(await send('/healthz')).to.deep.equal({ error: 'TypeError: Failed to fetch' });
    });
  });
});

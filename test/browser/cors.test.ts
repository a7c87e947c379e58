import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { close, listen } from '../support/serve.ts';
import { givenSite } from '../support/site.ts';
import { givenBrowser } from './support/browser.ts';

/** What a script of a page can read of a response, or the error of `fetch`. */
interface Seen {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly error?: string;
}

type Send = (target: string, headers?: Readonly<Record<string, string>>) => Promise<Seen>;

describe('A page of another origin', () => {
  let pages: Server;
  let origin: string;
  /** Read when the site starts, after the port of the pages is known. */
  const environment: Record<string, string> = {};

  before(async () => {
    pages = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><link rel="icon" href="data:,">');
    });
    origin = `http://127.0.0.1:${await listen(pages)}`;
    environment['CORS_ORIGINS'] = `https://app.example.org,${origin}`;
  });
  after(() => close(pages));

  const given = givenSite(environment);
  const chromium = givenBrowser();

  /** Opens a page, whose script sends requests to the API. */
  function visit(url: string, use: (send: Send) => Promise<void>): Promise<void> {
    const { replica, credential } = given.site;
    const expected = [/^request to /, /^Failed to load resource/, /blocked by CORS policy/];
    return chromium.visit({ url, expected }, (page) =>
      use((target, headers) =>
        page.evaluate(
          async ([address, sent]) => {
            try {
              const response = await fetch(address, { headers: sent });
              const text = await response.text();
              return { status: response.status, headers: Object.fromEntries(response.headers), text };
            } catch (error) {
              return { error: String(error) };
            }
          },
          [replica.origin + target, { Authorization: `Bearer ${credential}`, ...headers }] as const,
        ),
      ),
    );
  }

  it('reads data, headers, errors and streams if CORS_ORIGINS has the origin', () =>
    visit(origin, async (send) => {
      const page = await send('/v1/tickets?perPage=2', { 'Service-API-Version': 'stable' });
      expect(page.status).to.equal(200);
      expect(page.headers).to.include.keys(
        ...['etag', 'x-request-id', 'service-api-version', 'service-data-as-of'],
      );
      const unchanged = await send('/v1/tickets?perPage=2', {
        'If-None-Match': String(page.headers?.['etag']),
      });
      expect(unchanged.status).to.equal(304);
      const stream = await send('/v1/events', { Accept: 'application/x-ndjson' });
      expect(stream.text?.match(/\n/g)).to.have.length(Number(stream.headers?.['service-record-count']));
      const invalid = await send('/v1/tickets?page=0');
      expect(invalid.status).to.equal(400);
      expect(invalid.text).to.include('query.page');
    }));

  it('reads the OpenAPI document, and nothing else, if CORS_ORIGINS lacks the origin', () =>
    visit(origin.replace('127.0.0.1', 'localhost'), async (send) => {
      expect(await send('/openapi.json')).to.have.property('status', 200);
      for (const target of ['/v1/tickets', '/healthz'])
        expect(await send(target)).to.deep.equal({ error: 'TypeError: Failed to fetch' });
    }));
});

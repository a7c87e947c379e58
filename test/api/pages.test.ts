import { expect } from 'chai';
import { requestCoded } from '../support/coded-response.ts';
import { givenApi } from '../support/test-api.ts';

/** test/browser shows that a page has all of its files, runs by its policy, and works below a prefix. */
for (const [name, module] of [
  ['docs', 'docs/docs.js'],
  ['docs/guide', 'docs/guide.js'],
  ['explorer', 'explorer/explorer.js'],
] as const) {
  describe(`The page /${name}`, () => {
    const given = givenApi(() => ({ config: { explorer: true } }));
    const request = (path: string, headers: Readonly<Record<string, string>> = {}, method?: string) =>
      requestCoded(new URL(path, `${given.api.origin}/`).href, headers, method);

    it('has relative URLs, and a policy that permits its own origin and its import map only', async () => {
      const { headers, body } = await request(name);
      expect(headers['content-security-policy']?.replace(/ 'sha256-[\w+/=]+'/, '')).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      const own = body.toString().replaceAll(/<a href="https:[^"]+">/g, '');
      expect(own).not.to.match(/\sstyle=|\son\w+=|<style|\s(href|src)="(\w+:|\/)/);
    });

    it('is confirmed by its tag at each visit', async () => {
      for (const path of [name, module]) {
        const { headers } = await request(path);
        expect(headers['cache-control']).to.equal('no-cache');
        const again = await request(path, { 'If-None-Match': headers['etag'] ?? '' });
        expect(again).to.deep.include({ status: 304 });
        expect(again.body).to.have.length(0);
        expect(again.headers).to.include({ etag: headers['etag'], vary: 'Accept-Encoding' });
      }
    });

    it('answers HEAD, and refuses other methods', async () => {
      const [get, head] = [await request(name), await request(name, {}, 'HEAD')];
      expect([head.status, head.body.length]).to.deep.equal([200, 0]);
      expect(head.headers['content-length']).to.equal(get.headers['content-length']);
      expect(await request(name, {}, 'POST')).to.have.property('status', 405);
    });
  });
}

describe('The pages of the guide', () => {
  const given = givenApi();
  const request = (path: string) => requestCoded(new URL(path, given.api.origin).href, {});
  const textOf = async (path: string) => (await request(path)).body.toString();

  for (const page of ['/docs/guide', '/docs/client']) {
    it(`has no broken link: ${page}`, async () => {
      const url = new URL(page, given.api.origin);
      const html = await textOf(page);
      const links = Array.from(html.matchAll(/\s(?:href|src)="([^"]+)"/g), ([, link]) => new URL(link, url));
      expect(links.map(({ pathname }) => pathname)).to.include('/docs/sync.ts');
      const broken = await Promise.all(links.map(async (link) => ((await isSound(link)) ? [] : [link.href])));
      expect(broken.flat()).to.deep.equal([]);
    });
  }

  /** Returns whether a link leads to another site, or to a document and a heading that are served. */
  async function isSound({ origin, protocol, pathname, hash }: URL): Promise<boolean> {
    if (origin !== given.api.origin) return protocol === 'https:';
    const { status, body } = await request(pathname);
    return status === 200 && (hash === '' || body.includes(` id="${hash.slice(1)}"`));
  }

  it('have the example of the client with an import of its package', async () => {
    expect(await textOf('/docs/sync.ts'))
      .to.include("from 'foyer-client';")
      .and.not.include('../');
  });

  it('are named in the OpenAPI document', async () => {
    expect(await textOf('/openapi.json')).to.include('The guide, at `/docs/guide`, leads');
  });
});

describe('The address /', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  describe('without the explorer', () => {
    const given = givenApi();

    it('names the service and lists the public addresses, with no key', async () => {
      for (const accept of ['*/*', 'application/json', BROWSER]) {
        const { status, body } = await given.api.send('/', { as: undefined, headers: { Accept: accept } });
        expect(status).to.equal(200);
        expect(body).to.deep.equal({
          name: 'Foyer',
          description: 'Event ticketing read API',
          docs: '/docs',
          guide: '/docs/guide',
          openapi: '/openapi.json',
          health: '/healthz',
        });
      }
    });
  });

  describe('with the explorer', () => {
    const given = givenApi(() => ({
      config: { explorer: true, publicBaseUrl: 'https://tickets.example.org/foyer' },
    }));

    it('lists addresses under the public base URL, the explorer included', async () => {
      const { body } = await given.api.send('/', { as: undefined });
      expect(body).to.include({
        docs: 'https://tickets.example.org/foyer/docs',
        explorer: 'https://tickets.example.org/foyer/explorer',
      });
    });

    for (const [accept, status] of [
      [BROWSER, 302],
      ['text/html', 302],
      ['text/html, application/json;q=0.9', 302],
      ['application/json, text/html', 200],
      ['*/*', 200],
      ['application/json', 200],
      ['image/png', 200],
    ] as const) {
      it(`is ${status} for Accept: ${accept}`, async () => {
        const response = await given.api.send('/', { as: undefined, headers: { Accept: accept } });
        expect(response.status).to.equal(status);
        expect(response.headers['vary']).to.equal('Accept');
        // Relative, so that a proxy can add a prefix.
        expect(response.headers['location']).to.equal(status === 302 ? 'explorer' : undefined);
      });
    }
  });
});

describe('Without documentation', () => {
  const given = givenApi(() => ({ config: { docs: false } }));

  for (const path of [
    ...['/', '/docs', '/docs/docs.js', '/docs/guide', '/docs/sync.py', '/docs/foyer-client.tgz'],
    ...['/shared/theme.css', '/openapi.json', '/explorer'],
  ]) {
    it(`${path} is 404`, async () => {
      expect(await given.api.send(path, { as: undefined })).to.have.property('status', 404);
    });
  }

  it('API and health respond as before', async () => {
    for (const path of ['/healthz', '/v1/events'])
      expect(await given.api.send(path)).to.have.property('status', 200);
  });
});

import { expect } from 'chai';
import { HARD_ID } from '../support/api-fixture.ts';
import { PUBLIC_PATHS } from '../../src/contract/openapi/public-paths.ts';
import { givenApi } from '../support/test-api.ts';

describe('Identifiers', () => {
  const given = givenApi();
  const path = `/v1/events/${encodeURIComponent(HARD_ID)}`;

  it('with blanks, slashes, percent signs and non-ASCII letters are found', async () => {
    const { status, body } = await given.api.send(path);
    expect(status).to.equal(200);
    expect(body['id']).to.equal(HARD_ID);
    expect(await given.api.ids(`${path}/sessions`)).to.deep.equal(['ses_h1']);
  });

  for (const id of [
    'evt_a%20',
    '%20evt_a',
    'EVT_A',
    'evt_a%00',
    '..',
    '%2e%2e',
    'a'.repeat(8000),
    '__proto__',
  ]) {
    it(`without a record are 404: ${id.slice(0, 20)}`, async () => {
      const key = `Authorization: ${given.api.authorization('north')}`;
      const response = await given.api.rawLines(`GET /v1/events/${id} HTTP/1.1`, 'Host: x', key);
      expect(response).to.match(/^HTTP\/1\.1 404 [^]*no such record/);
    });
  }
});

describe('Unknown parameters', () => {
  const given = givenApi();

  const cases: [target: string, ignored: string | undefined][] = [
    ['/v1/events', undefined],
    ['/v1/events?startAt=x&startAt.gt=x&tags.ne=&Page=0', 'startAt, startAt.gt, tags.ne, Page'],
    ['/v1/events/evt_a/sessions?tags=&startAt.lt=2030-01-01T00:00Z', 'tags'],
    ['/v1/tickets/tkt_05?page=0&perPage=0&perPage=1', 'page, perPage'],
  ];
  for (const [target, ignored] of cases) {
    it(`are ignored and named: ${target}`, async () => {
      const { status, headers } = await given.api.send(target);
      expect(status).to.equal(200);
      expect(headers['service-api-ignored-parameters']).to.equal(ignored);
    });
  }

  it('are violations with Prefer: handling=strict, together with all others, also for a client with the tag', async () => {
    const strict = { Prefer: 'handling=strict' };
    for (const [target, locs] of [
      ['/v1/tickets?eventIds[]=evt_a&updatedAt[gte]=x&page=0', ['page', 'eventIds[]', 'updatedAt[gte]']],
      ['/v1/tickets/tkt_05?eventIds=evt_a', ['eventIds']],
      ['/v1/events?startAt.gt=2026-01-01T00:00:00Z', ['startAt.gt']],
    ] as const) {
      const lenient = await given.api.send(target);
      const tagged = lenient.status === 200 ? { 'If-None-Match': lenient.headers['etag'] } : {};
      const { status, headers, body } = await given.api.send(target, {
        headers: { ...strict, ...tagged },
      });
      expect([status, headers['preference-applied']]).to.deep.equal([400, 'handling=strict']);
      expect(headers).not.to.have.property('service-api-ignored-parameters');
      expect(body.errors.map(({ loc }) => loc)).to.deep.equal(locs.map((name) => `query.${name}`));
    }
  });

  it('are reported as handled strictly where there are none, on every kind of response', async () => {
    for (const [target, expected, condition] of [
      ['/v1/tickets?perPage=2', 200],
      ['/v1/tickets?perPage=2', 304, '*'],
      ['/v1/tickets/tkt_05', 200],
      ['/v1/tickets/none', 404],
      ['/v1/tickets?page=900', 204],
      ['/v1/tickets?page=0', 400],
    ] as const) {
      const sent = condition === undefined ? {} : { 'If-None-Match': condition };
      const { status, headers } = await given.api.send(target, {
        headers: { ...sent, Prefer: 'handling=strict' },
      });
      expect([status, headers['preference-applied']], target).to.deep.equal([expected, 'handling=strict']);
      const lenient = await given.api.send(target, { headers: sent });
      expect(lenient.headers).not.to.have.property('preference-applied');
    }
  });
});

describe('Targets', () => {
  const given = givenApi();
  const key = () => `Authorization: ${given.api.authorization('north')}`;
  const raw = (target: string) => given.api.rawLines(`GET ${target} HTTP/1.1`, 'Host: x', key());

  it('may be absolute', async () => {
    expect(await raw('http://other.example/v1/events?page=9')).to.match(/^HTTP\/1.1 204 /);
  });

  it('with non-ASCII characters are 400, and the detail asks for percent-encoding', async () => {
    for (const target of ['/v1/events?tags=th\u00c3\u00a9', '/v1/events/\u00e9']) {
      expect(await raw(target)).to.match(/^HTTP\/1\.1 400 [^]*percent-encode/);
    }
  });

  it('too long are 431, in JSON', async () => {
    const response = await raw(`/v1/events?x=${'x'.repeat(20_000)}`);
    expect(response)
      .to.match(/^HTTP\/1.1 431 /)
      .and.to.include('Content-Type: application/json')
      .and.to.include('Service-API-Version: stable')
      .and.to.include('Service-API-Latest-Version: 2026-10-01');
  });

  for (const request of [
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /v1/events HTTP/1.1\r\nHost x\r\n\r\n',
  ]) {
    it(`in malformed HTTP are 400, in JSON: ${JSON.stringify(request.slice(0, 20))}`, async () => {
      const response = await given.api.raw(request);
      const [head, body] = response.split('\r\n\r\n');
      expect(head)
        .to.match(/^HTTP\/1.1 400 /)
        .and.to.include('Connection: close')
        .and.to.include('X-Content-Type-Options: nosniff')
        .and.to.match(/X-Request-Id: [0-9a-f-]{36}/);
      expect(JSON.parse(body)).to.have.all.keys('detail');
    });
  }
});

describe('The id of a request', () => {
  const given = givenApi();

  it("is the client's own when it is valid, and new otherwise", async () => {
    const idFor = async (id: string) =>
      (await given.api.send('/v1/none', { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
    for (const id of ['My.id_1-2', 'a', 'x'.repeat(128)]) expect(await idFor(id)).to.equal(id);
    for (const id of ['a b', 'x'.repeat(129), '"', 'a,b', ''])
      expect(await idFor(id)).to.match(/^[\da-f-]{36}$/);
  });
});

for (const config of [
  { docs: true, explorer: true },
  { docs: true, explorer: false },
]) {
  describe(`The public paths with ${JSON.stringify(config)}`, () => {
    const given = givenApi(() => ({ config }));

    it('are those without security in the OpenAPI document', async () => {
      const { headers, body } = await given.api.send('/openapi.json', { as: undefined });
      expect(headers['cache-control']).to.equal('public, max-age=300');
      const paths = body['paths'] as Readonly<Record<string, { get: { security?: unknown } }>>;
      const documented = Object.keys(paths).filter((path) => paths[path].get.security !== undefined);
      const isServed = async (path: string) => (await fetch(given.api.origin + path)).status === 200;
      const candidates = Object.values(PUBLIC_PATHS);
      const served = await Promise.all(candidates.map(isServed));
      expect(documented).to.deep.equal(candidates.filter((_, i) => served[i]));
    });
  });
}

describe('The health check', () => {
  const given = givenApi();

  it('needs no key, and is not stored', async () => {
    const { status, headers, body } = await given.api.send('/healthz', { as: undefined });
    expect(status).to.equal(200);
    expect(headers['cache-control']).to.equal('no-store');
    expect(body).to.deep.equal({ status: 'ok' });
  });
});

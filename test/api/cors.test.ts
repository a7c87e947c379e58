import { expect } from 'chai';
import { RESPONSE_HEADERS } from '../../src/contract/openapi/responses.ts';
import { type ApiResponse, givenApi, type RequestOptions } from '../support/test-api.ts';

const APP = 'https://app.example.org';
const VARY = 'Authorization, Service-API-Version, Accept, Accept-Encoding, Prefer';
const EXPOSED = Object.keys(RESPONSE_HEADERS).join();

const sentFrom = (origin: string) => ({ Origin: origin });
const preflightFrom = (origin: string): RequestOptions => ({
  method: 'options',
  as: undefined,
  headers: { Origin: origin, 'Access-Control-Request-Method': 'GET' },
});

/** Returns the CORS headers of a response, and Vary. */
function corsHeaders({ headers }: ApiResponse): Record<string, string> {
  const names = Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'vary');
  return Object.fromEntries(names.map((name) => [name, headers[name]]));
}

describe('CORS', () => {
  describe('by default', () => {
    const given = givenApi();

    it('permits no other origin', async () => {
      const response = await given.api.send('/v1/tickets', { headers: sentFrom(APP) });
      expect(corsHeaders(response)).to.deep.equal({ vary: VARY });
      const preflight = await given.api.send('/v1/tickets', preflightFrom(APP));
      expect(preflight).to.have.nested.property('headers.allow');
      expect(corsHeaders(preflight)).to.deep.equal({});
    });

    it('permits every origin to read the OpenAPI document', async () => {
      for (const headers of [{}, sentFrom(APP), { ...sentFrom(APP), 'If-None-Match': '*' }]) {
        const response = await given.api.send('/openapi.json', { as: undefined, headers });
        expect(corsHeaders(response)).to.include({ 'access-control-allow-origin': '*' });
      }
      const preflight = await given.api.send('/openapi.json?x', preflightFrom(APP));
      expect(corsHeaders(preflight)).to.include({ 'access-control-allow-origin': '*' });
    });
  });

  describe('with an origin in CORS_ORIGINS', () => {
    let isOverloaded = false;
    const given = givenApi(() => ({
      config: { corsOrigins: ['https://first.example.org', APP] },
      overload: (isExempt) => isOverloaded && !isExempt,
      noteKeyUse: () => {
        if (isFailing) throw new Error('a fault');
      },
    }));
    let isFailing = false;
    afterEach(() => {
      isOverloaded = false;
      isFailing = false;
    });

    it('permits it to read the health check, a 413, a 429 of overload, and a 500', async () => {
      const statusOf = async (target: string) => {
        const { status, headers } = await given.api.send(target, { headers: sentFrom(APP) });
        expect(headers['access-control-allow-origin']).to.equal(APP);
        return status;
      };
      expect(await statusOf('/healthz')).to.equal(200);
      isOverloaded = true;
      expect(await statusOf('/v1/tickets')).to.equal(429);
      isOverloaded = false;
      isFailing = true;
      expect(await statusOf('/v1/tickets')).to.equal(500);
      const response = await given.api.raw(
        `POST /v1/tickets HTTP/1.1\r\nHost: x\r\nOrigin: ${APP}\r\nContent-Length: 70000\r\n\r\n`,
      );
      expect(response)
        .to.match(/^HTTP\/1.1 413 /)
        .and.to.include(`\r\nAccess-Control-Allow-Origin: ${APP}\r\n`);
    });

    for (const origin of ['https://other.example.org', 'https://app.example.org:444', 'null', undefined]) {
      it(`permits no other: ${origin ?? 'a request without Origin'}`, async () => {
        const headers = origin === undefined ? {} : sentFrom(origin);
        const response = await given.api.send('/v1/tickets', { headers });
        expect(response.status).to.equal(200);
        expect(response.headers).not.to.have.property('access-control-allow-origin');
        expect(response.headers['vary']).to.equal(`${VARY}, Origin`);
        const preflight = await given.api.send('/v1/tickets', preflightFrom(origin ?? 'https://a'));
        expect(preflight.headers).not.to.have.property('access-control-allow-origin');
      });
    }

    for (const target of ['/v1/tickets', '/v1/none', '/none']) {
      it(`responds to a preflight without a key, also during overload: ${target}`, async () => {
        isOverloaded = true;
        const preflight = await given.api.send(target, preflightFrom(APP));
        expect(preflight.status).to.equal(204);
        expect(corsHeaders(preflight)).to.deep.equal({
          'access-control-allow-origin': APP,
          'access-control-allow-methods': 'GET,HEAD',
          'access-control-allow-headers':
            'Authorization,Service-API-Version,X-Request-Id,If-None-Match,Prefer',
          'access-control-expose-headers': EXPOSED,
          'access-control-max-age': '7200',
          vary: 'Origin',
        });
      });
    }
  });

  describe('with CORS_ORIGINS=*', () => {
    const given = givenApi(() => ({ config: { corsOrigins: '*' } }));

    it('permits every origin, and responses do not vary by it', async () => {
      for (const headers of [{}, sentFrom(APP), sentFrom('null')]) {
        const response = await given.api.send('/v1/tickets', { headers });
        expect(corsHeaders(response)).to.include({ 'access-control-allow-origin': '*', vary: VARY });
      }
    });
  });
});

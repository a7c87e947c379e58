import { expect } from 'chai';
import { NDJSON_TYPE } from '../../src/contract/headers.ts';
import { RESPONSE_HEADERS } from '../../src/contract/openapi/responses.ts';
import { fixture } from '../support/api-fixture.ts';
import { givenApi, type RequestOptions } from '../support/test-api.ts';

type Kind = readonly [what: string, status: number, target: string, options?: RequestOptions];

const STREAM = { headers: { Accept: NDJSON_TYPE } };

/** Responses of a list, to queries with an unknown parameter. */
const OF_TICKETS: readonly Kind[] = [
  ['a page', 200, '/v1/tickets?Vary'],
  ['HEAD', 200, '/v1/tickets?Vary', { method: 'head' }],
  ['a stream', 200, '/v1/tickets?Vary', STREAM],
  ['a page beyond the last', 204, '/v1/tickets?page=99&Vary'],
  ['an unchanged page', 304, '/v1/tickets?Vary', { headers: { 'If-None-Match': '*' } }],
  ['an invalid query', 400, '/v1/tickets?page=0&Vary'],
  ['an invalid query of a stream', 400, '/v1/tickets?updatedAt.gte=now&Vary', STREAM],
];
/** Responses of the list for which the query is not read. */
const REFUSALS: readonly Kind[] = [
  ['a missing key', 400, '/v1/tickets?Vary', { as: undefined }],
  ['a revoked key', 403, '/v1/tickets?Vary', { as: 'revoked', ...STREAM }],
  ['an organization that is not loaded', 429, '/v1/tickets?Vary', { as: 'absent' }],
];
const OTHERS: readonly Kind[] = [
  ['a record', 200, '/v1/events/evt_a'],
  ['a missing record', 404, '/v1/events/none'],
  ['a stream of the sessions of a missing event', 404, '/v1/events/none/sessions', STREAM],
  ['an unknown path', 404, '/v1/none?x', { as: undefined }],
  ['a path with invalid encoding', 400, '/v1/events/%ff'],
  ['OPTIONS', 204, '/v1/tickets', { method: 'options' }],
  ['another method', 405, '/v1/tickets', { method: 'post' }],
];

describe('Each response below /v1', () => {
  const origin = 'https://app.example.org';
  const given = givenApi(() => ({ config: { corsOrigins: ['https://first.example.org', origin] } }));

  for (const kind of [...OF_TICKETS, ...REFUSALS, ...OTHERS]) {
    const [what, status, target, options] = kind;
    const isTagged = status === 200 || status === 304;
    const isOfData = isTagged || what === 'a page beyond the last';
    // A condition changes no other response.
    for (const condition of isTagged ? [{}] : [{}, { 'If-None-Match': '*' }]) {
      it(`has the headers of its kind: ${what} ${JSON.stringify(condition)}`, async () => {
        const { image } = await fixture();
        // Names of response headers as values do not mislead the code.
        const headers = {
          ...{ 'Service-API-Version': 'preview', Origin: origin, 'X-Request-Id': 'Vary' },
          ...{ ...condition, ...options?.headers },
        };
        const response = await given.api.send(target, { ...options, headers });
        expect(response.status).to.equal(status);
        const valueOf = (name: string): string | undefined => response.headers[name];
        expect(response.headers).to.include({
          'x-request-id': 'Vary',
          'service-api-version': 'preview',
          'service-api-latest-version': '2026-10-01',
          'cache-control': isOfData ? 'private, no-cache' : 'no-store',
          'access-control-allow-origin': origin,
          'access-control-expose-headers': Object.keys(RESPONSE_HEADERS).join(),
        });
        expect(valueOf('vary')).to.be.oneOf([
          'Origin',
          'Authorization, Service-API-Version, Accept, Accept-Encoding, Prefer, Origin',
        ]);
        expect(valueOf('etag') !== undefined).to.equal(isTagged);
        expect(valueOf('service-snapshot-id')).to.equal(isOfData ? image.snapshotId : undefined);
        expect(valueOf('service-data-as-of')).to.equal(isOfData ? image.producedAt : undefined);
        const ignored = OF_TICKETS.includes(kind) ? 'Vary' : undefined;
        expect(valueOf('service-api-ignored-parameters')).to.equal(ignored);
      });
    }
  }
});

import { expect } from 'chai';
import { CONTENT_CODINGS, NDJSON_TYPE } from '../../src/contract/headers.ts';
import { type CodedResponse, decoded, requestCoded } from '../support/coded-response.ts';
import { givenApi, type TestApi } from '../support/test-api.ts';

const VARY = 'Authorization, Service-API-Version, Accept, Accept-Encoding, Prefer';

async function request(
  api: TestApi,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<CodedResponse> {
  const sent = {
    Authorization: api.authorization('north'),
    'Service-API-Version': 'preview',
    Host: 'api.example',
    ...headers,
  };
  return await requestCoded(api.origin + target, sent, method);
}

/** Returns the header `Accept-Encoding`; none without a value. */
const accepting = (value?: string) => (value === undefined ? {} : { 'Accept-Encoding': value });
const codingOf = ({ headers }: CodedResponse) => headers['content-encoding'];
const tagOf = ({ headers }: CodedResponse) => headers['etag'] ?? '';

describe('Compression', () => {
  const given = givenApi();

  for (const [what, target, form] of [
    ['a page', '/v1/tickets?perPage=100', {}],
    ['a stream', '/v1/tickets', { Accept: NDJSON_TYPE }],
  ] as const) {
    it(`sends ${what} in each content coding, with the headers of the plain response`, async () => {
      const plain = await request(given.api, target, form);
      expect(codingOf(plain)).to.equal(undefined);
      for (const coding of CONTENT_CODINGS) {
        const headers = { ...form, ...accepting(coding), 'X-Request-Id': coding };
        const coded = await request(given.api, target, headers);
        expect(codingOf(coded)).to.equal(coding);
        expect(coded.body.length).to.be.below(plain.body.length / 2);
        expect(decoded(coded).equals(plain.body)).to.equal(true);
        const length = what === 'a page' ? String(coded.body.length) : undefined;
        expect(coded.headers['content-length']).to.equal(length);
        for (const name of ['content-type', 'cache-control', 'service-snapshot-id', 'service-record-count'])
          expect(coded.headers[name]).to.equal(plain.headers[name]);
        const line = given.api.logged.findLast(({ requestId }) => requestId === coding);
        expect(line?.['bytes']).to.equal(coded.body.length);
        const head = await request(given.api, target, headers, 'HEAD');
        expect([head.status, codingOf(head), tagOf(head)]).to.deep.equal([200, coding, tagOf(coded)]);
        expect(head.body).to.have.length(0);
        expect(head.headers).not.to.have.any.keys('content-length', 'transfer-encoding');
        for (const { headers } of [plain, coded]) expect(headers['vary']).to.equal(VARY);
      }
    });

    it(`has a strong tag for each content coding of ${what}, and any of them gets 304`, async () => {
      const codings = ['identity', ...CONTENT_CODINGS];
      const responses = await Promise.all(
        codings.map((coding) => request(given.api, target, { ...form, ...accepting(coding) })),
      );
      const tags = responses.map(tagOf);
      expect(new Set(tags)).to.have.property('size', 3);
      for (const tag of tags) {
        expect(tag).to.match(/^"[!#-~]+"$/);
        for (const accepted of [...codings, undefined]) {
          // Apache adds a suffix to the tag of a response that it compresses.
          for (const sent of [tag, `${tag.slice(0, -1)}-gzip"`]) {
            const headers = { ...form, ...accepting(accepted), 'If-None-Match': `"x", W/${sent}` };
            const { status, headers: got, body } = await request(given.api, target, headers);
            expect([status, got['etag'], got['vary'], body.length]).to.deep.equal([304, sent, VARY, 0]);
            expect(got).not.to.have.any.keys('content-encoding', 'content-length');
          }
        }
      }
    });
  }

  it('leaves short bodies, errors and responses without a body plain', async () => {
    const targets = [
      '/v1/tickets?perPage=1',
      '/v1/events/evt_a',
      '/v1/tickets?page=99',
      '/v1/none',
      '/healthz',
    ];
    const refused = Array.from({ length: 12 }, (_, i) => `updatedAt.gte=${'x'.repeat(i)}`).join('&');
    for (const target of [...targets, `/v1/tickets?page=0&perPage=0&${refused}`]) {
      const plain = await request(given.api, target);
      const response = await request(given.api, target, { 'Accept-Encoding': 'gzip, zstd' });
      expect(codingOf(response), target).to.equal(undefined);
      expect(response.body.equals(plain.body), target).to.equal(true);
      expect(tagOf(response), target).to.equal(tagOf(plain));
    }
  });

  const accepted: [header: string | undefined, coding: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['zstd', 'zstd'],
    ['*', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['deflate;q=1.0 , gzip ; q=0.5', 'gzip'],
    ['gzip;q=1.0, zstd;q=0.9', 'gzip'],
    ['zstd;q=0, *', 'gzip'],
    ['zstd;q=0, gzip;q=0.000', undefined],
    ['identity;q=0, *;q=0', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['identity;q=0.5, gzip;q=0.4', undefined],
    ['gzip;q=0.5, *;q=0.1', 'gzip'],
    // A quality that is not a number counts as none.
    ['gzip;q=, zstd;q=x', 'gzip'],
    ['gzip;q=x;q=1, ,;;,q=1', undefined],
    ['gzip'.padEnd(1000, ','), 'gzip'],
    ['gzip'.padEnd(1001, ','), undefined],
  ];
  for (const [header, coding] of accepted) {
    it(`selects ${coding ?? 'no content coding'} for ${header?.slice(0, 40)} (${header?.length})`, async () => {
      const response = await request(given.api, '/v1/events', accepting(header));
      expect(response.status).to.equal(200);
      expect(codingOf(response)).to.equal(coding);
    });
  }

  describe('of /openapi.json', () => {
    it('has the bytes of the plain document, and a tag for each content coding', async () => {
      const plain = await request(given.api, '/openapi.json');
      const tags = [tagOf(plain)];
      for (const coding of CONTENT_CODINGS) {
        const coded = await request(given.api, '/openapi.json', accepting(coding));
        expect(codingOf(coded)).to.equal(coding);
        expect(decoded(coded).equals(plain.body)).to.equal(true);
        expect(coded.headers['vary']).to.equal('Accept-Encoding');
        tags.push(tagOf(coded));
      }
      expect(new Set(tags)).to.have.property('size', 3);
    });

    it('is confirmed by the tag of its content coding only, since shared caches may store it', async () => {
      const tag = tagOf(await request(given.api, '/openapi.json', accepting('gzip')));
      const statusFor = async (coding: string) =>
        (await request(given.api, '/openapi.json', { ...accepting(coding), 'If-None-Match': tag })).status;
      expect([await statusFor('gzip'), await statusFor('identity')]).to.deep.equal([304, 200]);
    });
  });
});

describe('Without compression', () => {
  const given = givenApi(() => ({ config: { compression: false } }));

  it('every response is plain', async () => {
    for (const target of ['/v1/tickets?perPage=100', '/openapi.json']) {
      const plain = await request(given.api, target);
      const response = await request(given.api, target, { 'Accept-Encoding': 'gzip, zstd' });
      expect(codingOf(response)).to.equal(undefined);
      expect(response.body.equals(plain.body)).to.equal(true);
      expect(tagOf(response)).to.equal(tagOf(plain));
    }
  });
});

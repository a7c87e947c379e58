import { expect } from 'chai';
import { JSON_TYPE, NDJSON_TYPE } from '../../src/contract/headers.ts';
import { HARD_ID, TICKET_COUNT } from '../support/api-fixture.ts';
import { RawClient } from '../support/raw-client.ts';
import { type ApiResponse, givenApi, type RequestOptions } from '../support/test-api.ts';

const PREVIEW = { 'Service-API-Version': 'preview' };
const HEADERS = { ...PREVIEW, Accept: NDJSON_TYPE };

/** Lists of each way to read records, each with the number of its records. */
const LISTS: Readonly<Record<string, number>> = {
  '/v1/tickets': TICKET_COUNT,
  '/v1/tickets?updatedAt.gte=2026-11-20T00:00:00Z&eventIds=evt_a,evt_b': 18,
  '/v1/tickets?qrCodes=none': 0,
  '/v1/events': 5,
  [`/v1/events/${encodeURIComponent(HARD_ID)}/sessions`]: 1,
  '/v1/catalog/offers?sessionId=ses_a1': 4,
};

describe('A list in application/x-ndjson', () => {
  const given = givenApi();
  const stream = (target: string, { headers, ...options }: RequestOptions = {}): Promise<ApiResponse> =>
    given.api.send(target, { headers: { ...HEADERS, ...headers }, ...options });
  const page = (target: string) =>
    given.api.send(`${target}${target.includes('?') ? '&' : '?'}perPage=100`, {
      headers: PREVIEW,
    });
  const linesOf = ({ text }: ApiResponse) => text.split('\n').slice(0, -1);

  for (const [target, count] of Object.entries(LISTS)) {
    it(`has one line for each of ${count} records, and the headers of a page: ${target}`, async () => {
      const [lines, json] = await Promise.all([stream(target), page(target)]);
      expect(lines.status).to.equal(200);
      expect(lines.headers).to.include({
        'content-type': NDJSON_TYPE,
        'service-record-count': String(count),
      });
      expect(linesOf(lines).map((line) => JSON.parse(line) as unknown)).to.deep.equal(json.body.items);
      expect(linesOf(lines)).to.have.length(count);
      for (const name of ['cache-control', 'vary', 'service-snapshot-id', 'service-data-as-of'])
        expect(lines.headers[name], name).to.equal(json.headers[name]);
    });
  }

  it('has a tag of its own, which gets 304', async () => {
    const target = '/v1/tickets';
    const [lines, json] = [await stream(target), await given.api.send(target, { headers: PREVIEW })];
    const tag = lines.headers['etag'];
    for (const [condition, status] of [
      [tag, 304],
      ['*', 304],
      [json.headers['etag'], 200],
    ] as const) {
      const again = await stream(target, { headers: { 'If-None-Match': condition } });
      expect([again.status, again.headers['etag']]).to.deep.equal([status, tag]);
    }
  });

  it('is served to a client that prefers it; JSON is the default, also for other types', async () => {
    const cases: [accept: string | undefined, type: string][] = [
      [undefined, JSON_TYPE],
      ['', JSON_TYPE],
      ['application/*', JSON_TYPE],
      ['text/html;q=0.9, nonsense, ;;;', JSON_TYPE],
      ['application/json, text/plain, */*', JSON_TYPE],
      [`application/json;q=0.9, ${NDJSON_TYPE};q=0.8`, JSON_TYPE],
      [`${NDJSON_TYPE};q=0`, JSON_TYPE],
      [`${NDJSON_TYPE};q=0.1`, NDJSON_TYPE],
      [`${NDJSON_TYPE}, */*`, NDJSON_TYPE],
      [`application/json;q=0.8, ${NDJSON_TYPE};q=0.9`, NDJSON_TYPE],
      ['Application/X-NDJSON', NDJSON_TYPE],
      [NDJSON_TYPE.padEnd(1000, ','), NDJSON_TYPE],
      [NDJSON_TYPE.padEnd(1001, ','), JSON_TYPE],
    ];
    for (const [accept, type] of cases) {
      const { status, headers } = await given.api.send('/v1/tickets', {
        headers: accept === undefined ? {} : { Accept: accept },
      });
      expect([status, headers['content-type']], accept).to.deep.equal([200, type]);
    }
  });

  it('has no pages: page and perPage are violations, besides all others', async () => {
    const { status, headers, body } = await stream('/v1/orders?perPage=100&status=X&page=1');
    expect([status, headers['content-type']]).to.deep.equal([400, JSON_TYPE]);
    expect(body.errors.map(({ loc, input }) => [loc, input])).to.deep.equal([
      ['query.page', '1'],
      ['query.perPage', '100'],
      ['query.status', 'X'],
    ]);
    expect(body.errors[0].ctx).to.include('must be omitted');
  });

  it('may name the snapshot, and names the ignored parameters', async () => {
    const response = await stream(`/v1/tickets?snapshot=${given.api.digest('north')}&cursor=1`);
    expect(linesOf(response)).to.have.length(TICKET_COUNT);
    expect(response.headers['service-api-ignored-parameters']).to.equal('cursor');
  });

  it('is not for single records', async () => {
    const { headers } = await stream('/v1/tickets/tkt_05');
    expect(headers['content-type']).to.equal(JSON_TYPE);
  });

  it('is complete when its last chunk has arrived, and leaves the connection open', async () => {
    const get = (accept: string, more = '') =>
      `GET /v1/orders HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nAuthorization: ${given.api.authorization('north')}\r\n${more}\r\n`;
    const client = new RawClient(given.api.port);
    client.socket.write(get(NDJSON_TYPE) + get('*/*', 'Connection: close\r\n'));
    await client.ended;
    const { received } = client;
    expect(received).to.match(/\r\nTransfer-Encoding: chunked\r\n/);
    expect(received.split('HTTP/1.1 200 OK')[1]).to.match(/\r\n0\r\n\r\n$/);
    expect(received.split('HTTP/1.1 200 OK')[2]).to.include('{"items":[');
  });

  it('is refused over HTTP/1.0, in which a truncated response may look complete', async () => {
    const received = await given.api.raw(
      `GET /v1/orders HTTP/1.0\r\nAccept: ${NDJSON_TYPE}\r\nAuthorization: ${given.api.authorization('north')}\r\n\r\n`,
    );
    expect(received).to.match(/^HTTP\/1\.1 400 [^]*requires HTTP\/1\.1/);
  });
});

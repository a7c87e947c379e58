import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import { pino } from 'pino';
import { STREAMS } from '../../src/counts/open-counts.ts';
import { sumMetrics } from '../../src/counts/request-metrics.ts';
import { HARD_ID, TICKET_COUNT } from '../support/api-fixture.ts';
import { type ApiResponse, givenApi, type RequestOptions, serverDependencies } from '../support/test-api.ts';

const NDJSON = 'application/x-ndjson';
const HEADERS = { Accept: NDJSON, 'Service-API-Version': 'preview' };

/** Lists, each with the number of its records. */
const LISTS: Readonly<Record<string, number>> = {
  '/v1/tickets': TICKET_COUNT,
  '/v1/tickets?eventIds=evt_a': 38,
  '/v1/tickets?updatedAt.gte=2026-11-20T00:00:00Z&eventIds=evt_a,evt_b': 18,
  '/v1/tickets?qrCodes=none': 0,
  '/v1/orders': 3,
  '/v1/orders?status=PENDING': 1,
  '/v1/events': 5,
  '/v1/events?tags=theatre': 1,
  '/v1/events/evt_d/sessions': 2,
  [`/v1/events/${encodeURIComponent(HARD_ID)}/sessions`]: 1,
  '/v1/catalog/offers': 4,
  '/v1/catalog/offers?resaleEnabled=false': 2,
  '/v1/catalog/offers?sessionId=ses_a1': 4,
};

describe('A list in application/x-ndjson', () => {
  const { metrics, counts } = serverDependencies(pino({ level: 'silent' }));
  const given = givenApi(() => ({ metrics, counts }));
  const stream = (target: string, { headers, ...options }: RequestOptions = {}): Promise<ApiResponse> =>
    given.api.send(target, { headers: { ...HEADERS, ...headers }, ...options });
  const page = (target: string) =>
    given.api.send(`${target}${target.includes('?') ? '&' : '?'}perPage=100`, {
      headers: { 'Service-API-Version': 'preview' },
    });
  const linesOf = ({ text }: ApiResponse) => text.split('\n').slice(0, -1);

  for (const [target, count] of Object.entries(LISTS)) {
    it(`has one line for each of ${count} records, in list order: ${target}`, async () => {
      const [lines, json] = await Promise.all([stream(target), page(target)]);
      expect(lines.status).to.equal(200);
      expect(lines.headers).to.include({ 'content-type': NDJSON, 'service-record-count': String(count) });
      expect(linesOf(lines).map((line) => JSON.parse(line) as unknown)).to.deep.equal(json.body.items);
      expect(linesOf(lines)).to.have.length(count);
    });

    it(`has the headers of a page and a tag of its own: ${target}`, async () => {
      const [lines, json] = await Promise.all([stream(target), page(target)]);
      for (const name of ['cache-control', 'vary', 'service-snapshot-id', 'service-data-as-of'])
        expect(lines.headers[name], name).to.equal(json.headers[name]);
      expect(lines.headers['vary']).to.equal('Authorization, Service-API-Version, Accept, Accept-Encoding');
      const asJson = await given.api.send(target, { headers: { 'Service-API-Version': 'preview' } });
      expect(lines.headers['etag']).not.to.equal(asJson.headers['etag']);
      for (const condition of [lines.headers['etag'], '*']) {
        const again = await stream(target, { headers: { 'If-None-Match': condition } });
        expect(again).to.include({ status: 304, text: '' });
        expect(again.headers['etag']).to.equal(lines.headers['etag']);
      }
      const other = await stream(target, { headers: { 'If-None-Match': asJson.headers['etag'] } });
      expect(other.status).to.equal(200);
    });
  }

  it('is served to a client that prefers it; JSON is the default, also for other types', async () => {
    const cases: [accept: string | undefined, type: string][] = [
      [undefined, 'application/json'],
      ['', 'application/json'],
      ['*/*', 'application/json'],
      ['application/*', 'application/json'],
      ['text/html', 'application/json'],
      ['text/html;q=0.9, nonsense, ;;;', 'application/json'],
      ['application/json, text/plain, */*', 'application/json'],
      [`application/json;q=0.9, ${NDJSON};q=0.8`, 'application/json'],
      [`${NDJSON};q=0`, 'application/json'],
      [`${NDJSON};q=0.1`, NDJSON],
      [`${NDJSON}, */*`, NDJSON],
      [`application/json;q=0.8, ${NDJSON};q=0.9`, NDJSON],
      ['Application/X-NDJSON', NDJSON],
    ];
    for (const [accept, type] of cases) {
      const { status, headers } = await given.api.send('/v1/tickets', {
        headers: accept === undefined ? {} : { Accept: accept },
      });
      expect([status, headers['content-type']], accept).to.deep.equal([200, type]);
    }
  });

  it('has no pages: page and perPage are violations, beside all others', async () => {
    const { status, headers, body } = await stream('/v1/orders?perPage=100&status=X&page=1');
    expect([status, headers['content-type']]).to.deep.equal([400, 'application/json']);
    expect(body.errors.map(({ loc, input }) => [loc, input])).to.deep.equal([
      ['query.page', '1'],
      ['query.perPage', '100'],
      ['query.status', 'X'],
    ]);
    expect(body.errors[0].ctx).to.include('must be omitted');
  });

  it('may name the snapshot', async () => {
    const target = `/v1/tickets?snapshot=${given.api.digest('north')}`;
    expect(linesOf(await stream(target))).to.have.length(TICKET_COUNT);
  });

  it('names the ignored parameters', async () => {
    const { headers } = await stream('/v1/tickets?cursor=1');
    expect(headers['service-api-ignored-parameters']).to.equal('cursor');
  });

  it('has errors in JSON', async () => {
    for (const [target, options, status] of [
      ['/v1/tickets', { as: undefined }, 400],
      ['/v1/tickets', { as: 'revoked' }, 403],
      ['/v1/events/none/sessions', {}, 404],
      ['/v1/events/evt_south/sessions', {}, 404],
      ['/v1/catalog/offers', { headers: { 'Service-API-Version': 'stable' } }, 404],
      ['/v1/tickets?updatedAt.gte=now', {}, 400],
    ] as const) {
      const refused = await stream(target, options);
      expect(refused.status, target).to.equal(status);
      expect(refused.headers['content-type']).to.equal('application/json');
    }
  });

  it('is not for single records', async () => {
    const { headers, body } = await stream('/v1/tickets/tkt_05');
    expect(headers['content-type']).to.equal('application/json');
    expect(body['ticketId']).to.equal('tkt_05');
  });

  it('has only headers for HEAD', async () => {
    // By default, the client accepts compression with GET only.
    const headers = { 'Accept-Encoding': 'identity' };
    const [head, get] = await Promise.all([
      stream('/v1/tickets', { method: 'head', headers }),
      stream('/v1/tickets', { headers }),
    ]);
    expect(head.status).to.equal(200);
    for (const name of ['content-type', 'etag', 'service-record-count'])
      expect(head.headers[name], name).to.equal(get.headers[name]);
  });

  it('is complete when its last chunk has arrived, and leaves the connection open', async () => {
    const get = (accept: string, more = '') =>
      `GET /v1/orders HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nAuthorization: ${given.api.authorization('north')}\r\n${more}\r\n`;
    const socket = connect(given.api.port, '127.0.0.1');
    socket.write(get(NDJSON) + get('*/*', 'Connection: close\r\n'));
    const received = await readText(socket);
    expect(received).to.match(/\r\nTransfer-Encoding: chunked\r\n/);
    expect(received.split('HTTP/1.1 200 OK')[1]).to.match(/\r\n0\r\n\r\n$/);
    expect(received.split('HTTP/1.1 200 OK')[2]).to.include('{"items":[');
  });

  it('is refused over HTTP/1.0, in which a truncated response may look complete', async () => {
    const received = await given.api.raw(
      `GET /v1/orders HTTP/1.0\r\nAccept: ${NDJSON}\r\nAuthorization: ${given.api.authorization('north')}\r\n\r\n`,
    );
    expect(received).to.match(/^HTTP\/1\.1 400 /);
    expect(received).to.include('requires HTTP/1.1');
  });

  it('has its records and bytes in its log line, and is left out of the durations', async () => {
    const observed = () =>
      sumMetrics([metrics]).durations.reduce(
        (sum, { totals }) => sum + totals.counts.reduce((all, count) => all + count),
        0,
      );
    const before = observed();
    const { text } = await stream('/v1/tickets', { headers: { 'Accept-Encoding': 'identity' } });
    await given.api.send('/v1/tickets/tkt_05');
    const line = given.api.logged.findLast(({ operation }) => operation === 'listTickets');
    expect(line).to.include({ status: 200, rows: TICKET_COUNT, bytes: Buffer.byteLength(text) });
    expect(observed()).to.equal(before + 1);
    expect(counts.inAll(STREAMS)).to.equal(0);
  });
});

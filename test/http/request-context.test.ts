import { expect } from 'chai';
import { NDJSON_TYPE } from '../../src/contract/headers.ts';
import { RequestMetrics, sumMetrics } from '../../src/counts/request-metrics.ts';
import { normalizeTarget } from '../../src/http/request-context.ts';
import { fixture, TICKET_COUNT } from '../support/api-fixture.ts';
import { eventually } from '../support/eventually.ts';
import { givenApi, type RequestOptions } from '../support/test-api.ts';

describe('normalizeTarget', () => {
  const cases: [target: string, normal: string][] = [
    ['/v1/events?page=1', '/v1/events?page=1'],
    ['/', '/'],
    ['//host/path', '//host/path'],
    ['http://host:80/v1/events?a=1', '/v1/events?a=1'],
    ['HTTPS://host?a=1', '/?a=1'],
    ['http://host', '/'],
    ['http://[bad/v1', '/v1'],
    ['*', '/*'],
    ['host:443', '/host:443'],
    ['/v1/events#part?page=1', '/v1/events'],
  ];
  for (const [target, normal] of cases) {
    it(`turns ${JSON.stringify(target)} into ${normal}`, () => {
      expect(normalizeTarget(target)).to.equal(normal);
    });
  }
});

const inVersion = (version: string) => ({ headers: { 'Service-API-Version': version } });

/** Requests before the first release, each with its log line, and the version by which it is counted. */
const REQUESTS: readonly (readonly [
  target: string,
  options: RequestOptions,
  line: readonly [organizationId: string | undefined, operation: string | undefined, status: number],
  rows: number | undefined,
  version: string,
])[] = [
  ['/v1/orders?email=canary@example.org', {}, ['north', 'listOrders', 200], 0, 'stable'],
  ['/v1/tickets/canary', {}, ['north', 'getTicket', 404], undefined, 'stable'],
  ['/v1/events?page=canary', { as: 'revoked' }, [undefined, 'listEvents', 403], undefined, 'stable'],
  ['/v1/canary', inVersion('canary'), [undefined, undefined, 404], undefined, 'stable'],
  ['/canary', {}, [undefined, undefined, 404], undefined, 'none'],
  ['/v1/tickets?perPage=20&page=3', inVersion('preview'), ['north', 'listTickets', 200], 17, 'preview'],
  ['/v1/tickets/tkt_05', inVersion('2026-10-01'), ['north', 'getTicket', 200], 1, 'upcoming'],
  ['/v1/tickets?perPage=1', { method: 'head' }, ['north', 'listTickets', 200], 1, 'stable'],
  [
    '/v1/tickets',
    { headers: { Accept: NDJSON_TYPE } },
    ['north', 'listTickets', 200],
    TICKET_COUNT,
    'stable',
  ],
];

describe('The end of a request', () => {
  const metrics = new RequestMetrics();
  const given = givenApi(() => ({ metrics }));
  const counts = () =>
    sumMetrics([metrics]).requests.map(
      ({ operation, status, version, count }) => [`${operation} ${status} ${version}`, count] as const,
    );

  /** Does what ends a request. Returns its line in the log, and the labels by which it is counted. */
  async function endOf<T>(send: () => Promise<T>) {
    const { logged } = given.api;
    const [before, lines] = [new Map(counts()), logged.length];
    const sent = await send();
    await eventually(() => logged.length > lines);
    const counted = counts().filter(([labels, count]) => count !== before.get(labels));
    return { sent, line: logged[lines], counted: counted.map(([labels]) => labels) };
  }

  it('has a log line with rows and bytes, without ids, filters and secrets, and is counted by its labels', async () => {
    const { secrets } = await fixture();
    given.api.clock.now = Date.parse('2026-09-01T12:00:00Z');
    for (const [target, options, [organizationId, operation, status], rows, version] of REQUESTS) {
      const headers = { ...options.headers, 'Accept-Encoding': 'identity' };
      const { sent, line, counted } = await endOf(() => given.api.send(target, { ...options, headers }));
      const found = ['organizationId', 'operation', 'status', 'rows', 'bytes'].map((name) => line[name]);
      const bytes = Buffer.byteLength(sent.text);
      expect(found, target).to.deep.equal([organizationId, operation, status, rows, bytes]);
      expect(line['durationMs']).to.be.a('number').and.to.be.within(0, 10_000);
      expect(counted, target).to.deep.equal([`${operation ?? 'other'} ${status} ${version}`]);
    }
    const text = JSON.stringify(given.api.logged);
    for (const word of ['canary', ...secrets]) expect(text).not.to.include(word);
    const durations = sumMetrics([metrics]).durations.flatMap(({ totals }) => totals.counts);
    const timed = durations.reduce((sum, count) => sum + count);
    expect(timed, 'all but the stream').to.equal(REQUESTS.length - 1);
  });

  it('is counted and logged for malformed input, too', async () => {
    const { line, counted } = await endOf(() => given.api.raw('nonsense\r\n\r\n'));
    expect(line).to.include({ status: 400 });
    expect(counted).to.deep.equal(['other 400 none']);
  });
});

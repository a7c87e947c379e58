import { expect } from 'chai';
import { type RequestRefusal, RequestMetrics, sumMetrics } from '../../src/counts/request-metrics.ts';
import { normalizeTarget } from '../../src/http/request-context.ts';
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

describe('The end of a request', () => {
  const metrics = new RequestMetrics();
  const given = givenApi(() => ({ metrics }));

  it('is counted by operation, status and version, also of malformed input, and logged with its bytes', async () => {
    given.api.clock.now = Date.parse('2026-09-01T12:00:00Z'); // before the first release
    for (const [target, version] of [
      ['/v1/tickets'],
      ['/v1/tickets', 'preview'],
      ['/v1/tickets', '2026-10-01'],
      ['/v1/tickets', '2026-10-01'],
      ['/v1/none', 'nonsense'],
      ['/none'],
    ] as const)
      await given.api.send(target, {
        headers: version === undefined ? {} : { 'Service-API-Version': version },
      });
    await given.api.send('/v1/tickets', { method: 'head' });
    await given.api.raw('nonsense\r\n\r\n');
    await eventually(() => given.api.logged.length === 8);
    expect(given.api.logged[6]['bytes']).to.equal(0);
    const { requests, durations } = sumMetrics([metrics]);
    const counted = requests.filter(({ count }) => count > 0);
    expect(counted.map((each) => Object.values(each))).to.deep.equal([
      ['listTickets', '200', 'stable', 2],
      ['listTickets', '200', 'preview', 1],
      ['listTickets', '200', 'upcoming', 2],
      ['other', '400', 'none', 1],
      ['other', '404', 'stable', 1],
      ['other', '404', 'none', 1],
    ]);
    const totals = durations.find(({ operation }) => operation === 'listTickets')?.totals;
    expect(totals?.counts.reduce((sum, count) => sum + count, 0)).to.equal(5);
    expect(totals?.sum).to.be.within(0.000_001, 5);
  });
});

describe('The log line of a refusal', () => {
  const given = givenApi(() => ({ config: { rateLimitPerMinute: 50 } }));

  /** Sends a request, and returns the cause in its log line. */
  async function logged(target: string, options: RequestOptions = {}) {
    const requestId = `request-${given.api.logged.length}`;
    await given.api.send(target, { ...options, headers: { ...options.headers, 'X-Request-Id': requestId } });
    const find = () => given.api.logged.find((line) => line['requestId'] === requestId);
    await eventually(() => find() !== undefined);
    const { status, reason, loc, ...others } = find() ?? {};
    expect(JSON.stringify(others)).not.to.include('canary');
    return { status, reason, loc };
  }
  const bearer = (credential: string) => ({
    as: undefined,
    headers: { Authorization: `Bearer ${credential}` },
  });

  const cases: [
    what: string,
    target: string,
    options: RequestOptions,
    status: number,
    reason: RequestRefusal,
  ][] = [
    ['a missing key', '/v1/events', { as: undefined }, 400, 'key-missing'],
    ['a malformed key', '/v1/events', bearer('canary'), 400, 'key-malformed'],
    ['an unknown key', '/v1/events', bearer('svc:o:canary:canary'), 403, 'key-unknown'],
    ['a revoked key', '/v1/events', { as: 'revoked' }, 403, 'key-revoked'],
    ['an organization without data', '/v1/events', { as: 'absent' }, 429, 'organization-not-loaded'],
    ['an invalid version', '/v1/events', { headers: { 'Service-API-Version': 'canary' } }, 400, 'version'],
    ['an operation of another version', '/v1/catalog/offers', {}, 404, 'version'],
    ['a link to data that may arrive', `/v1/tickets?snapshot=${'a'.repeat(43)}`, {}, 429, 'list-not-loaded'],
  ];
  for (const [what, target, options, status, reason] of cases) {
    it(`names the cause: ${what}`, async () => {
      expect(await logged(target, options)).to.deep.equal({ status, reason, loc: undefined });
    });
  }

  it('names the parameters of an invalid query, without their values and without unknown names', async () => {
    const target = '/v1/orders?status=canary&canary=1&email=canary%20&page=0&updatedAt.gte=canary&perPage=7';
    expect(await logged(target)).to.deep.equal({
      status: 400,
      reason: 'query',
      loc: ['query.page', 'query.updatedAt.gte', 'query.status', 'query.email'],
    });
    const strict = { headers: { Prefer: 'handling=strict' } };
    const loc = ['query.page'];
    expect(await logged('/v1/orders?canary=1&page=0', strict)).to.deep.equal({
      status: 400,
      reason: 'query',
      loc,
    });
  });

  it('names no cause where the status tells it, and none of a response', async () => {
    for (const [target, status] of [
      ['/v1/tickets/canary', 404],
      ['/canary', 404],
      ['/v1/tickets', 200],
    ] as const)
      expect(await logged(target)).to.deep.equal({ status, reason: undefined, loc: undefined });
  });

  it('names the limit of a key', async () => {
    let latest = await logged('/v1/events');
    while (latest.status === 200) latest = await logged('/v1/events');
    expect(latest).to.deep.equal({ status: 429, reason: 'rate-limit', loc: undefined });
  });
});

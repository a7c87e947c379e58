import { expect } from 'chai';
import { RequestMetrics, sumMetrics } from '../../src/counts/request-metrics.ts';
import { eventually } from '../support/eventually.ts';
import { givenApi, type Overrides, type RequestOptions } from '../support/test-api.ts';

describe('Rate limit', () => {
  const given = givenApi(() => ({ config: { rateLimitPerMinute: 3 } }));

  it('counts each key separately, and reports the remaining requests', async () => {
    for (const left of [2, 1, 0]) {
      const { status, headers } = await given.api.send('/v1/events');
      expect(status).to.equal(200);
      expect(headers['ratelimit']).to.match(new RegExp(`^"3-in-1min"; r=${left}; t=([1-5]?[0-9]|60)$`));
      expect(headers['ratelimit-policy']).to.equal('"3-in-1min"; q=3; w=60');
    }
    const { status, headers, body } = await given.api.send('/v1/events');
    expect(status).to.equal(429);
    expect(body).to.have.all.keys('detail');
    expect(Number(headers['retry-after'])).to.be.at.most(60);
    expect(body.detail).to.equal(
      `More than 3 requests in a minute; try again in ${headers['retry-after']} s.`,
    );
    expect(headers['ratelimit']).to.include('r=0');
    expect(headers['cache-control']).to.equal('no-store');
    expect(await given.api.send('/v1/events', { as: 'south' })).to.have.property('status', 200);
  });

  it('is checked before the version and the query', async () => {
    const headers = { 'Service-API-Version': 'nonsense' };
    expect(await given.api.send('/v1/events?page=0', { headers })).to.have.property('status', 429);
  });

  it('counts errors and HEAD requests, but none without a valid key', async () => {
    const options = { as: 'void' } as const;
    await given.api.send('/v1/events?page=0', options);
    await given.api.send('/v1/events/none', { ...options, method: 'head' });
    await given.api.send('/v1/events', { as: 'revoked' });
    await given.api.send('/v1/events', { as: undefined });
    await given.api.send('/v1/events', { ...options, method: 'options' });
    const { headers } = await given.api.send('/v1/events', options);
    expect(headers['ratelimit']).to.include('r=0');
  });
});

describe('The limit of an address', () => {
  const metrics = new RequestMetrics();
  const given = givenApi(() => ({ metrics, config: { refusalsPerMinute: 2, trustProxy: true } }));
  const sendFrom = (address: string, options: RequestOptions = { as: undefined }) =>
    given.api.send('/v1/events', { ...options, headers: { 'X-Forwarded-For': address } });
  const statusFrom = async (...from: Parameters<typeof sendFrom>) => (await sendFrom(...from)).status;

  it('counts requests without a valid key, of an IPv6 address by its /64', async () => {
    for (const [address, sameLimit, other] of [
      ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'],
      ['2001:db8::1', '2001:db8:0:0:ffff::1', '2001:db8:0:1::1'],
    ]) {
      expect(await statusFrom(address, { as: 'revoked' })).to.equal(403);
      expect(await statusFrom(address)).to.equal(400);
      const before = given.api.logged.length;
      const { status, body } = await sendFrom(address);
      expect(status).to.equal(429);
      expect(body.detail).to.include('without a valid API key');
      expect(await statusFrom(sameLimit)).to.equal(429);
      expect(await statusFrom(address, { as: 'north' })).to.equal(200);
      expect(given.api.logged.slice(before).map(({ status }) => status)).to.deep.equal([200]);
      expect(await statusFrom(other)).to.equal(400);
    }
    expect(sumMetrics([metrics]).refusals.get('refusals')).to.equal(4);
  });
});

describe('Readiness', () => {
  const cases: [what: string, reason: string, overrides: Overrides][] = [
    ['without a snapshot', 'no data is loaded yet', { stores: () => new Map() }],
    ['without a keys file', 'no API keys are loaded yet', { keys: () => undefined }],
  ];
  for (const [what, reason, overrides] of cases) {
    describe(what, () => {
      const given = givenApi(() => overrides);

      it('is 429 with the reason, with or without a valid key', async () => {
        for (const as of ['north', 'revoked', undefined] as const) {
          const { status, body } = await given.api.send('/v1/events', { as });
          expect(status).to.equal(429);
          expect(body.detail).to.include('not ready').and.to.include(reason);
        }
      });

      it('serves operations that need no data', async () => {
        expect(await given.api.send('/healthz')).to.have.property('status', 200);
        expect(await given.api.send('/openapi.json')).to.have.property('status', 200);
        expect(await given.api.send('/v1/none')).to.have.property('status', 404);
        expect(await given.api.send('/v1/events', { method: 'post' })).to.have.property('status', 405);
      });
    });
  }
});

describe('Overload', () => {
  let overloaded = true;
  const metrics = new RequestMetrics();
  const given = givenApi(() => ({ metrics, overload: (isExempt) => overloaded && !isExempt }));

  beforeEach(() => {
    overloaded = true;
  });

  it('is 429 before the path, the method and the key are checked, and ends', async () => {
    const requests: readonly (readonly [target: string, options: RequestOptions])[] = [
      ['/v1/events', {}],
      ['/v1/events', { as: 'revoked' }],
      ['/v1/events', { as: undefined, method: 'head' }],
      ['/v1/none', {}],
      ['/v1/events', { method: 'post' }],
      ['/openapi.json', { as: undefined }],
    ];
    for (const [target, options] of requests) {
      expect(await given.api.send(target, options), target).to.have.property('status', 429);
    }
    overloaded = false;
    expect(await given.api.send('/v1/events')).to.have.property('status', 200);
  });

  it('names the request and the version', async () => {
    const options = { headers: { 'X-Request-Id': 'mine', 'Service-API-Version': 'preview' } };
    const { headers } = await given.api.send('/v1/none', options);
    expect(headers).to.include({ 'x-request-id': 'mine', 'service-api-version': 'preview' });
  });

  it('is counted, but has no log line of its own', async () => {
    const { logged } = given.api;
    const counted = () => sumMetrics([metrics]).refusals.get('overload') ?? 0;
    const [before, countedBefore] = [logged.length, counted()];
    const { body } = await given.api.send('/v1/events');
    expect(body.detail).to.include('overloaded');
    await eventually(() => counted() === countedBefore + 1);
    overloaded = false;
    await given.api.send('/v1/events');
    expect(logged.slice(before).map(({ status }) => status)).to.deep.equal([200]);
  });

  it('does not concern the health check', async () => {
    for (const target of ['/healthz', '/healthz?probe=1'])
      expect(await given.api.send(target)).to.have.property('status', 200);
  });
});

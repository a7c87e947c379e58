import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { RequestMetrics, sumMetrics } from '../../src/counts/request-metrics.ts';
import { EMPTY_VIEW } from '../../src/store/registry/store-view.ts';
import { givenApi, type Overrides, type RequestOptions } from '../support/test-api.ts';

const expectRetryAfter = (headers: Readonly<Record<string, string>>) => {
  expect(headers['retry-after']).to.match(/^[1-9][0-9]*$/);
};

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
    expectRetryAfter(headers);
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
  const given = givenApi(() => ({ config: { refusalsPerMinute: 2, trustProxy: true } }));
  const statusFrom = async (address: string, options: RequestOptions = { as: undefined }) => {
    const headers = { 'X-Forwarded-For': address };
    return (await given.api.send('/v1/events', { ...options, headers })).status;
  };

  it('counts requests without a valid key, of an IPv6 address by its /64', async () => {
    for (const [address, sameLimit, other] of [
      ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'],
      ['2001:db8::1', '2001:db8:0:0:ffff::1', '2001:db8:0:1::1'],
    ]) {
      expect(await statusFrom(address, { as: 'revoked' })).to.equal(403);
      expect(await statusFrom(address)).to.equal(400);
      const before = given.api.logged.length;
      expect(await statusFrom(address)).to.equal(429);
      expect(await statusFrom(sameLimit)).to.equal(429);
      expect(await statusFrom(address, { as: 'north' })).to.equal(200);
      expect(given.api.logged.slice(before).map(({ status }) => status)).to.deep.equal([200]);
      expect(await statusFrom(other)).to.equal(400);
    }
  });

  it('says when to try again', async () => {
    const headers = { 'X-Forwarded-For': '192.0.2.3' };
    const sends = () => given.api.send('/none', { as: undefined, headers });
    expect([(await sends()).status, (await sends()).status]).to.deep.equal([404, 404]);
    const { status, body, headers: sent } = await sends();
    expect(status).to.equal(429);
    expect(body.detail).to.include('without a valid API key');
    expectRetryAfter(sent);
  });
});

describe('Readiness', () => {
  const cases: [what: string, reason: string, overrides: Overrides][] = [
    ['without a snapshot', 'no data is loaded yet', { stores: () => EMPTY_VIEW }],
    ['without a keys file', 'no API keys are loaded yet', { keys: () => undefined }],
  ];
  for (const [what, reason, overrides] of cases) {
    describe(what, () => {
      const given = givenApi(() => overrides);

      it('is 429 with the reason, with or without a valid key', async () => {
        for (const as of ['north', 'revoked', undefined] as const) {
          const { status, headers, body } = await given.api.send('/v1/events', { as });
          expect(status).to.equal(429);
          expect(body.detail).to.include('not ready').and.to.include(reason);
          expectRetryAfter(headers);
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

  describe('of an organization without a snapshot', () => {
    const given = givenApi();

    it('is 429, never an empty list', async () => {
      for (const target of ['/v1/events', '/v1/events/evt_a', '/v1/tickets?page=9']) {
        const { status, headers, body } = await given.api.send(target, { as: 'absent' });
        expect(status).to.equal(429);
        expect(body.detail)
          .to.include('not ready')
          .and.to.include('no live snapshot holds your organization');
        expectRetryAfter(headers);
      }
    });

    it('is reported for a valid key alone', async () => {
      const headers = { Authorization: 'Bearer svc:o:absent:wrong' };
      expect(await given.api.send('/v1/events', { as: undefined, headers })).to.have.property('status', 403);
    });
  });
});

describe('Overload', () => {
  let overloaded = true;
  const given = givenApi(() => ({ overload: (isExempt) => overloaded && !isExempt }));

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
      const { status, headers } = await given.api.send(target, options);
      expect(status, target).to.equal(429);
      expectRetryAfter(headers);
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
    const before = logged.length;
    await given.api.send('/v1/events');
    overloaded = false;
    await given.api.send('/v1/events');
    expect(logged.slice(before).map(({ status }) => status)).to.deep.equal([200]);
  });

  it('does not concern the health check', async () => {
    for (const target of ['/healthz', '/healthz?probe=1'])
      expect(await given.api.send(target)).to.have.property('status', 200);
  });
});

describe('A response with 429', () => {
  const metrics = new RequestMetrics();
  let overloaded = false;
  const given = givenApi(() => ({
    metrics,
    overload: (isExempt) => overloaded && !isExempt,
    config: { rateLimitPerMinute: 1, refusalsPerMinute: 1 },
  }));

  it('is counted by its reason', async () => {
    for (const as of ['north', 'north', 'absent', undefined, undefined] as const)
      await given.api.send('/v1/events', { as });
    overloaded = true;
    const { body } = await given.api.send('/v1/events');
    expect(body.detail).to.include('overloaded');
    // A response is counted when it is closed.
    while (sumMetrics([metrics]).refusals.get('overload') === 0) await setImmediate();
    const counted = [...sumMetrics([metrics]).refusals].filter(([, count]) => count > 0);
    expect(counted).to.have.deep.members([
      ['rate-limit', 1],
      ['organization-not-loaded', 1],
      ['overload', 1],
      ['refusals', 1],
      ['key-missing', 1],
    ]);
  });
});

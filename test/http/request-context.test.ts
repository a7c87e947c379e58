import { expect } from 'chai';
import { RequestMetrics, sumMetrics } from '../../src/counts/request-metrics.ts';
import { normalizeTarget } from '../../src/http/request-context.ts';
import { eventually } from '../support/eventually.ts';
import { givenApi } from '../support/test-api.ts';

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

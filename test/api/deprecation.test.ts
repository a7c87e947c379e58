import { expect } from 'chai';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { type Release, RELEASES } from '../../src/contract/releases.ts';
import { type ApiResponse, givenApi } from '../support/test-api.ts';

/** Returns the headers that announce an end. */
function announced({ headers }: ApiResponse): unknown[] {
  return [headers['deprecation'], headers['sunset']];
}

const NONE = [undefined, undefined];

describe('The end of a stable version', () => {
  const releases: readonly Release[] = [
    { ...RELEASES[0], end: { deprecated: '2027-01-01', sunset: '2027-03-01' } },
    { date: '2027-03-01', operations: ['listOffers'], end: { deprecated: '2028-01-01' } },
  ];
  const operations = OPERATIONS.map((each) =>
    each.id === 'listOrders' ? { ...each, end: { deprecated: '2026-12-01' } } : each,
  );
  const given = givenApi(() => ({ releases, operations }));
  const first = ['@1798761600', 'Mon, 01 Mar 2027 00:00:00 GMT'];
  const second = ['@1830297600', undefined];
  const sendAs = (version: string, target = '/v1/tickets') =>
    given.api.send(target, { headers: { 'Service-API-Version': version } });

  it('is announced by its responses, those without an operation included', async () => {
    for (const target of ['/v1/tickets', '/v1/events/none', '/v1/none'])
      expect(announced(await sendAs('stable', target)), target).to.deep.equal(first);
    expect(await given.api.raw('FETCH /v1/tickets HTTP/1.1\r\nHost: x\r\n\r\n')).to.include(
      'Deprecation: @1798761600\r\nSunset: Mon, 01 Mar 2027 00:00:00 GMT\r\n',
    );
    expect(announced(await given.api.send('/healthz'))).to.deep.equal(NONE);
  });

  it('is not announced to a client that selects the next release, or preview', async () => {
    expect(announced(await sendAs('2027-03-01'))).to.deep.equal(second);
    expect(announced(await sendAs('preview'))).to.deep.equal(NONE);
  });

  it('is over when the next release is the stable version', async () => {
    const { now } = given.api.clock;
    given.api.clock.now = Date.parse('2027-03-01T00:00:00Z');
    expect(announced(await sendAs('stable'))).to.deep.equal(second);
    given.api.clock.now = now;
  });

  it('yields to that of an operation', async () => {
    expect(announced(await sendAs('stable', '/v1/orders'))).to.deep.equal(['@1796083200', undefined]);
  });
});

import { expect } from 'chai';
import { type RequestRefusal, RequestMetrics, sumMetrics } from '../../src/counts/request-metrics.ts';
import { eventually } from '../support/eventually.ts';
import { givenApi, type RequestOptions } from '../support/test-api.ts';

const FORM = 'send the header Authorization: Bearer svc:o:<organization_id>:<api_key>';
const LINK = `/v1/tickets?snapshot=${'a'.repeat(43)}`;
const withKey = (key: string) => ({ as: undefined, headers: { Authorization: `Bearer ${key}` } });
const inVersion = (version: string) => ({ headers: { 'Service-API-Version': version } });

/** Requests of `/v1/events`, or of another target. */
const CASES: readonly (readonly [
  what: string,
  status: number,
  reason: RequestRefusal | undefined,
  detail: string,
  options: RequestOptions & { readonly target?: string },
])[] = [
  ['a missing key', 400, 'key-missing', `missing; ${FORM}`, { as: undefined }],
  ['a malformed key', 400, 'key-malformed', `malformed; ${FORM}`, withKey('canary')],
  ['an unknown key', 403, 'key-unknown', 'unknown', withKey('svc:o:absent:canary')],
  ['a revoked key', 403, 'key-revoked', 'revoked', { as: 'revoked' }],
  ['an absent organization', 429, 'organization-not-loaded', 'no live snapshot holds', { as: 'absent' }],
  ['an invalid version', 400, 'version', 'an invalid API version', inVersion('canary')],
  ['a preview', 404, 'version', 'Service-API-Version: preview', { target: '/v1/catalog/offers' }],
  ['a link to data that may arrive', 429, 'list-not-loaded', 'not loaded yet', { target: LINK }],
  ['a missing record', 404, undefined, 'no such record', { target: '/v1/tickets/canary' }],
  ['an unknown path', 404, undefined, 'no resource at this path', { target: '/canary' }],
];

describe('A refusal', () => {
  const metrics = new RequestMetrics();
  const given = givenApi(() => ({ metrics, config: { rateLimitPerMinute: 50 } }));

  /** Sends a request. Returns the cause in its log line, which is counted, too, and the detail of the response. */
  async function refusal(target: string, options: RequestOptions = {}) {
    const counts = () => sumMetrics([metrics]).refusals;
    const before = counts();
    const requestId = `request-${given.api.logged.length}`;
    const headers = { ...options.headers, 'X-Request-Id': requestId };
    const sent = await given.api.send(target, { ...options, headers });
    const find = () => given.api.logged.find((line) => line['requestId'] === requestId);
    await eventually(() => find() !== undefined);
    const { status, reason, loc, ...others } = find() ?? {};
    expect(JSON.stringify(others)).not.to.include('canary');
    const counted = [...counts()].filter(([name, count]) => count > (before.get(name) ?? 0));
    expect(counted.map(([name]) => name)).to.deep.equal(reason === undefined ? [] : [reason]);
    return { status, reason, loc, detail: sent.body.detail };
  }

  for (const [what, status, reason, detail, { target = '/v1/events', ...options }] of CASES)
    it(`is logged and counted by its cause where the status does not tell it: ${what}`, async () => {
      const { detail: found, ...rest } = await refusal(target, options);
      expect(rest).to.deep.equal({ status, reason, loc: undefined });
      expect(found).to.include(detail);
    });

  it('of a query has the parameters in its log line, without their values and without unknown names', async () => {
    const target = '/v1/orders?status=canary&canary=1&email=canary%20&page=0&updatedAt.gte=canary&perPage=7';
    expect(await refusal(target))
      .to.include({ status: 400, reason: 'query' })
      .and.deep.include({
        loc: ['query.page', 'query.updatedAt.gte', 'query.status', 'query.email'],
      });
    const strict = { headers: { Prefer: 'handling=strict' } };
    expect(await refusal('/v1/orders?canary=1&page=0', strict)).to.deep.include({ loc: ['query.page'] });
  });

  it('of a key over its limit names that', async () => {
    let latest = await refusal('/v1/events');
    while (latest.status === 200) latest = await refusal('/v1/events');
    expect(latest).to.include({ status: 429, reason: 'rate-limit', loc: undefined });
  });
});

import { expect } from 'chai';
import { givenApi, type RequestOptions } from '../support/test-api.ts';

const PREVIEW = { 'Service-API-Version': 'preview' };

describe('Caching', () => {
  const given = givenApi();
  const send = (target: string, { headers, ...options }: RequestOptions = {}) =>
    given.api.send(target, { ...options, headers: { ...PREVIEW, ...headers } });
  const tagOf = async (target: string, options?: RequestOptions) =>
    (await send(target, options)).headers['etag'];

  for (const target of [
    '/v1/events',
    '/v1/events/evt_a',
    '/v1/events/evt_a/sessions',
    '/v1/tickets?page=2',
    '/v1/tickets?eventIds=evt_a&perPage=2&unknown=1',
    '/v1/tickets/tkt_05',
    '/v1/orders?status=PENDING',
    '/v1/orders/ord_1',
    '/v1/catalog/offers',
    '/v1/catalog/offers?resaleEnabled=true',
    '/v1/catalog/offers/off_t',
  ]) {
    it(`has a tag for each target, organization and version: ${target}`, async () => {
      const tag = await tagOf(target);
      expect(tag).to.match(/^"[!#-~]+"$/);
      expect(await tagOf(target), 'a repeated request').to.equal(tag);
      const different = await Promise.all([
        tagOf(`${target}${target.includes('?') ? '&' : '?'}x`),
        tagOf(target, { as: 'south' }),
        tagOf(target, { headers: { 'Service-API-Version': 'stable' } }),
      ]);
      expect(different).not.to.include(tag);
    });

    it(`answers the tag by 304 with the same headers: ${target}`, async () => {
      const first = await send(target);
      const tag = first.headers['etag'];
      for (const condition of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const again = await send(target, { headers: { 'If-None-Match': condition } });
        expect(again, condition).to.include({ status: 304, text: '' });
        for (const name of ['etag', 'cache-control', 'vary', 'service-snapshot-id', 'service-data-as-of'])
          expect(again.headers[name], name).to.equal(first.headers[name]);
        expect(again.headers).not.to.have.any.keys('content-length', 'content-type');
      }
      for (const condition of ['"x"', '', 'x', await tagOf('/v1/tickets')]) {
        const again = await send(target, { headers: { 'If-None-Match': condition } });
        expect(again, condition).to.have.property('status', 200);
      }
    });
  }

  it('has a tag for each host of a list, since links begin with it', async () => {
    const tags = ['a.example', 'b.example'].map((Host) => tagOf('/v1/tickets', { headers: { Host } }));
    expect(new Set(await Promise.all(tags)).size).to.equal(2);
  });
});

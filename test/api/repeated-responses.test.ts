import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { sectionOf, StoreView } from '../../src/store/registry/store-view.ts';
import { fixture } from '../support/api-fixture.ts';
import { storeOf } from '../support/empty-image.ts';
import { organizationOf } from '../support/import-folder.ts';
import { type ApiResponse, type RequestOptions, givenApi, TestApi } from '../support/test-api.ts';

const PREVIEW = { 'Service-API-Version': 'preview' };
const TARGETS = [
  '/v1/events',
  '/v1/events?tags=theatre&perPage=1',
  '/v1/events/evt_a/sessions',
  '/v1/tickets',
  '/v1/tickets?perPage=2&page=3',
  '/v1/tickets?eventIds=evt_a&perPage=2',
  '/v1/tickets?updatedAt.gte=2020-01-01T00:00:00Z',
  '/v1/tickets?eventIds=none',
  '/v1/tickets?page=999',
  '/v1/tickets?snapshot=',
  '/v1/tickets?unknown=1&other=2',
  `/v1/tickets?unknown=${'x'.repeat(1000)}`,
  '/v1/orders?status=PENDING',
  '/v1/catalog/offers',
  '/v1/catalog/offers?resaleEnabled=true',
];
/** The headers that differ in each response. */
const VOLATILE = ['x-request-id', 'date'];

describe('A repeated response', () => {
  const given = givenApi();
  const comparable = ({ status, headers, text }: ApiResponse) => ({
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !VOLATILE.includes(name))),
    text,
  });
  const send = async (target: string, options: RequestOptions = {}) =>
    comparable(await given.api.send(target, { ...options, headers: { ...PREVIEW, ...options.headers } }));

  for (const target of TARGETS) {
    describe(`for ${target.slice(0, 60)}`, () => {
      it('is the same, byte for byte', async () => {
        const first = await send(target);
        for (let i = 0; i < 3; i++) expect(await send(target)).to.deep.equal(first);
      });

      it('is separate for each organization', async () => {
        const [north, south] = [await send(target), await send(target, { as: 'south' })];
        expect(await send(target)).to.deep.equal(north);
        expect(await send(target, { as: 'south' })).to.deep.equal(south);
        expect(south.headers['etag']).to.satisfy(
          (tag: unknown) => tag === undefined || tag !== north.headers['etag'],
        );
      });

      it('is separate for each host', async () => {
        const here = await send(target);
        const elsewhere = await send(target, { headers: { Host: 'elsewhere.example' } });
        expect(await send(target)).to.deep.equal(here);
        expect(await send(target, { headers: { Host: 'elsewhere.example' } })).to.deep.equal(elsewhere);
        expect(here.text).not.to.include('elsewhere.example');
        expect(elsewhere.text).not.to.include(given.api.origin);
      });

      it('is separate for each version', async () => {
        const versions = ['preview', 'stable', 'preview', 'stable'];
        const responses = [];
        for (const version of versions) {
          responses.push(await send(target, { headers: { 'Service-API-Version': version } }));
        }
        expect(responses.slice(2)).to.deep.equal(responses.slice(0, 2));
        expect(responses.map(({ headers }) => headers['service-api-version'])).to.deep.equal(versions);
        const [ofPreview, ofStable] = responses.map(({ headers }) => headers['etag']);
        expect(ofPreview).to.satisfy((tag: unknown) => tag === undefined || tag !== ofStable);
      });

      it('is only the head for HEAD', async () => {
        // By default, the client accepts compression with GET only.
        const headers = { 'Accept-Encoding': 'identity' };
        const { text, ...rest } = await send(target, { headers });
        expect(await send(target, { method: 'head', headers })).to.deep.equal({ ...rest, text: '' });
        expect(await send(target, { headers })).to.deep.equal({ ...rest, text });
      });

      it('is logged like the first one', async () => {
        const lineOf = async (id: string) => {
          await given.api.send(target, { headers: { ...PREVIEW, 'X-Request-Id': id } });
          const { operation, status, rows, bytes } =
            given.api.logged.find(({ requestId }) => requestId === id) ?? {};
          return { operation, status, rows, bytes };
        };
        const first = await lineOf('first');
        expect(first.operation).to.be.a('string');
        expect(first.rows).to.be.a(first.status === 200 ? 'number' : 'undefined');
        expect(await lineOf('again')).to.deep.equal(first);
      });
    });
  }

  it('is refused to requests that fail a check', async () => {
    const target = '/v1/catalog/offers?perPage=3';
    expect(await send(target)).to.have.property('status', 200);
    expect(await send(target, { as: undefined })).to.have.property('status', 400);
    expect(await send(target, { as: 'revoked' })).to.have.property('status', 403);
    expect(await send(target, { headers: { 'Service-API-Version': 'stable' } })).to.have.property(
      'status',
      404,
    );
    expect(await send(target, { headers: { 'Service-API-Version': 'none' } })).to.have.property(
      'status',
      400,
    );
  });

  describe('over a swap', () => {
    const stores = new StoreRegistry();
    const swapping = givenApi(() => ({ stores: () => stores.view }));

    const swapIn = async (snapshotId: string, content: 'north' | 'south') => {
      const { image } = await fixture();
      const organizations = [{ ...organizationOf(image, content), organizationId: 'north' }];
      stores.swap('fixture', { ...image, snapshotId, organizations });
    };

    it('has the new content', async () => {
      const target = '/v1/tickets?perPage=2';
      await swapIn('earlier', 'north');
      const before = await swapping.api.send(target);
      expect((await swapping.api.send(target)).text).to.equal(before.text);
      await swapIn('later', 'south');
      const after = await swapping.api.send(target);
      expect(after.text).not.to.equal(before.text);
      expect(after.body.items.map((item) => item['ticketId'])).not.to.include.members(
        before.body.items.map((item) => item['ticketId']),
      );
      expect(after.headers['service-snapshot-id']).to.equal('later');
    });

    it('keeps the old content on a walk that began before', async () => {
      await swapIn('earlier', 'north');
      const [, pinned = ''] =
        /"nextPage":"http:..[^/]*([^"]*)"/.exec((await swapping.api.send('/v1/tickets?perPage=2')).text) ??
        [];
      const before = await swapping.api.send(pinned);
      expect(before.status).to.equal(200);
      await swapIn('later', 'south');
      const unpinned = await swapping.api.send(pinned.replace(/&snapshot=.*/, ''));
      for (let i = 0; i < 2; i++) {
        const after = await swapping.api.send(pinned);
        expect(after.text).to.equal(before.text);
        expect(after.headers['service-snapshot-id']).to.equal('earlier');
        expect(unpinned.text).not.to.equal(before.text);
      }
      // Retained for this walk, until it is released.
      stores.releaseUnwalked();
      expect((await swapping.api.send(pinned)).text).to.equal(before.text);
      stores.retainOnly([]);
      expect(await swapping.api.send(pinned)).to.have.property('status', 429);
    });

    it('comes only from the retained list of its digest', async () => {
      const { image } = await fixture();
      const asNorth = (content: 'north' | 'south') =>
        storeOf({ ...organizationOf(image, content), organizationId: 'north' });
      const [live, replaced] = [asNorth('south'), asNorth('north')];
      const isRetained = { value: false };
      const api = await TestApi.start({
        stores: () =>
          new StoreView(new Map([['north', live]]), isRetained.value ? [sectionOf(replaced, 'events')] : []),
      });
      const send = async (retained: boolean) => {
        isRetained.value = retained;
        return (await api.send(`/v1/events?perPage=1&page=2&snapshot=${replaced.lists.events.digest}`)).text;
      };
      const responses = [];
      for (const retained of [true, false, false, false, true, true, false])
        responses.push(await send(retained));
      await api.stop();
      const [ofReplaced, none] = responses;
      expect(ofReplaced).to.include('"items":[{');
      expect(none).not.to.include('items');
      expect(responses).to.deep.equal([ofReplaced, none, none, none, ofReplaced, ofReplaced, none]);
    });
  });
});

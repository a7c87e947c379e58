import { expect } from 'chai';
import type { OrganizationImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { sectionOf, StoreView } from '../../src/store/registry/store-view.ts';
import { fixture } from '../support/api-fixture.ts';
import { storeOf } from '../support/empty-image.ts';
import { organizationOf } from '../support/import-folder.ts';
import { givenApi, NOW, type RequestOptions, TestApi } from '../support/test-api.ts';

const PREVIEW = { 'Service-API-Version': 'preview' };
const TAGGED = [
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
];
const UNTAGGED = ['/v1/tickets?page=999', '/v1/tickets?snapshot=', `/v1/orders?page=0&x=${'x'.repeat(1000)}`];

describe('A repeated response', () => {
  const given = givenApi();
  const send = async (target: string, options: RequestOptions = {}) => {
    const headers = { ...PREVIEW, ...options.headers };
    const response = await given.api.send(target, { ...options, headers });
    const { 'x-request-id': id, date, ...stable } = response.headers;
    expect([id, date]).not.to.include(undefined);
    return { status: response.status, headers: stable, text: response.text };
  };

  for (const target of [...TAGGED, ...UNTAGGED]) {
    describe(`for ${target.slice(0, 60)}`, () => {
      it('is the same, byte for byte, and separate for each organization, host and version', async () => {
        const requests: RequestOptions[] = [
          {},
          { as: 'south' },
          { headers: { Host: 'elsewhere.example' } },
          { headers: { 'Service-API-Version': 'stable' } },
        ];
        const sendAll = () => Promise.all(requests.map((options) => send(target, options)));
        const first = await sendAll();
        for (let i = 0; i < 2; i++) expect(await sendAll()).to.deep.equal(first);
        const [own, south, , stable] = first.map(({ headers }): string | undefined => headers['etag']);
        if (own !== undefined) expect([south, stable]).not.to.include(own);
        for (const [i, { text }] of first.entries())
          expect(text).not.to.include(i === 2 ? given.api.origin : 'elsewhere.example');
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
    const versioned = (version: string) => ({ headers: { 'Service-API-Version': version } });
    for (const [options, status] of [
      [{}, 200],
      [{ as: undefined }, 400],
      [{ as: 'revoked' }, 403],
      [versioned('stable'), 404],
      [versioned('none'), 400],
    ] as const)
      expect(await send(target, options)).to.have.property('status', status);
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

describe('Caching', () => {
  const given = givenApi();
  const send = (target: string, headers: Readonly<Record<string, string>> = {}) =>
    given.api.send(target, { headers: { ...PREVIEW, ...headers } });
  const tagOf = async (target: string, headers = {}) => (await send(target, headers)).headers['etag'];

  for (const target of TAGGED) {
    it(`has a tag for each target, which gets 304 with the same headers: ${target}`, async () => {
      const first = await send(target);
      const tag = first.headers['etag'];
      expect(tag).to.match(/^"[!#-~]+"$/);
      expect(await tagOf(`${target}${target.includes('?') ? '&' : '?'}x`)).not.to.equal(tag);
      for (const condition of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const again = await send(target, { 'If-None-Match': condition });
        expect(again, condition).to.include({ status: 304, text: '' });
        for (const name of ['etag', 'cache-control', 'vary', 'service-snapshot-id', 'service-data-as-of'])
          expect(again.headers[name], name).to.equal(first.headers[name]);
        expect(again.headers).not.to.have.any.keys('content-length', 'content-type');
      }
      for (const condition of ['"x"', '', 'x', await tagOf('/v1/tickets')])
        expect(await send(target, { 'If-None-Match': condition }), condition).to.have.property('status', 200);
    });
  }

  describe('over a swap', () => {
    const stores = new StoreRegistry();
    const swapping = givenApi(() => ({ stores: () => stores.view }));
    const withOtherTickets = (image: OrganizationImage): OrganizationImage => {
      const tickets = { ...image.lists.tickets, digest: 'changed' };
      return { ...image, lists: { ...image.lists, tickets } };
    };

    it('keeps the tags of an organization with unchanged data', async () => {
      const { image } = await fixture();
      stores.swap('fixture', image);
      const before = await swapping.api.send('/v1/tickets');
      stores.swap('fixture', { ...image, snapshotId: 'later' });
      const after = await swapping.api.send('/v1/tickets', {
        headers: { 'If-None-Match': before.headers['etag'] },
      });
      expect(after.status).to.equal(304);
      expect(after.headers['service-snapshot-id']).to.equal('later');
    });

    it('retains the content of a list that a 304 confirmed, because its client has the link to the next page', async () => {
      const { image } = await fixture();
      const restarted = new StoreRegistry();
      const api = await TestApi.start({ stores: () => restarted.view });
      restarted.swap('fixture', image);
      const target = '/v1/tickets?perPage=1';
      const page = await swapping.api.send(target, { headers: { Host: 'same.example' } });
      const again = await api.send(target, {
        headers: { Host: 'same.example', 'If-None-Match': page.headers['etag'] },
      });
      await api.stop();
      expect(again.status).to.equal(304);
      const organizations = image.organizations.map(withOtherTickets);
      restarted.swap('fixture', { ...image, organizations });
      restarted.releaseUnwalked();
      const digest = api.digest('north');
      expect(restarted.view.find('north', 'tickets', digest)?.image.digest).to.equal(digest);
    });

    it('changes the tags with the data', async () => {
      const { image } = await fixture();
      const before = await swapping.api.send('/v1/tickets');
      const organizations = image.organizations.map(withOtherTickets);
      stores.swap('fixture', { ...image, organizations });
      const after = await swapping.api.send('/v1/tickets', {
        headers: { 'If-None-Match': before.headers['etag'] },
      });
      expect(after.status).to.equal(200);
    });
  });
});

describe('Next sessions', () => {
  const given = givenApi();
  const at = async (time: string, target = '/v1/events/evt_a') => {
    given.api.clock.now = Date.parse(time);
    const { headers, body } = await given.api.send(target);
    return { tag: headers['etag'], start: body['nextSessionStartAt'], id: body['nextSessionId'] };
  };

  const moments: [now: string, id: string | null][] = [
    ['2026-11-21T12:00:00Z', 'ses_a1'],
    ['2027-01-01T18:59:59.999Z', 'ses_a1'],
    ['2027-01-01T19:00:00.000Z', 'ses_a2'],
    ['2027-02-01T18:59:59.999Z', 'ses_a2'],
    ['2027-02-01T19:00:00.000Z', null],
    ['2099-01-01T00:00:00.000Z', null],
    ['2027-01-15T00:00:00.000Z', 'ses_a2'],
    ['2026-11-21T12:00:00Z', 'ses_a1'],
  ];
  for (const [now, id] of moments) {
    it(`at ${now} are ${id ?? 'none'}, also when the clock was set back`, async () => {
      const { start, id: nextId } = await at(now);
      expect(nextId).to.equal(id);
      expect(start).to.equal(
        id === null ? null : { ses_a1: '2027-01-01T20:00:00+01:00', ses_a2: '2027-02-01T20:00:00+01:00' }[id],
      );
    });
  }

  it('are in the list', async () => {
    given.api.clock.now = Date.parse('2027-01-01T19:00:00Z');
    const { body } = await given.api.send('/v1/events');
    expect(body.items.map((item) => item['nextSessionId'])).to.deep.equal([
      null,
      null,
      'ses_d1',
      'ses_a2',
      'ses_h1',
    ]);
  });

  it('change the tag when one starts, and restore it when the clock is set back', async () => {
    for (const target of ['/v1/events/evt_a', '/v1/events']) {
      const before = await at('2027-01-01T18:00:00Z', target);
      const stillBefore = await at('2027-01-01T18:59:59.999Z', target);
      const after = await at('2027-01-01T19:00:00Z', target);
      const back = await at('2027-01-01T18:00:00Z', target);
      expect(stillBefore.tag).to.equal(before.tag);
      expect(after.tag).not.to.equal(before.tag);
      expect(back.tag).to.equal(before.tag);
      given.api.clock.now = Date.parse('2027-01-01T19:00:00Z');
      const headers = { 'If-None-Match': before.tag };
      expect(await given.api.send(target, { headers })).to.have.property('status', 200);
    }
  });

  it('do not change the tags of tickets', async () => {
    given.api.clock.now = NOW;
    const before = await given.api.send('/v1/tickets');
    given.api.clock.now = Date.parse('2027-01-01T19:00:00Z');
    const after = await given.api.send('/v1/tickets');
    expect(after.headers['etag']).to.equal(before.headers['etag']);
  });
});

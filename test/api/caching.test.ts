import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture } from '../support/api-fixture.ts';
import { givenApi, NOW, TestApi } from '../support/test-api.ts';
import type { OrganizationImage } from '../../src/store/organization-image.ts';

const preview = { 'Service-API-Version': 'preview' };
const TARGETS = [
  '/v1/events',
  '/v1/events/evt_a',
  '/v1/events/evt_a/sessions',
  '/v1/tickets?page=2',
  '/v1/tickets/tkt_05',
  '/v1/orders?status=PENDING',
  '/v1/orders/ord_1',
  '/v1/catalog/offers',
  '/v1/catalog/offers?resaleEnabled=true',
  '/v1/catalog/offers/off_t',
];

describe('Caching', () => {
  const given = givenApi();
  const tagOf = async (target: string, headers = {}) =>
    (await given.api.send(target, { headers: { ...preview, ...headers } })).headers['etag'];

  for (const target of TARGETS) {
    describe(target, () => {
      it('has its own stable tag', async () => {
        const tags = await Promise.all(
          [target, target, `${target}${target.includes('?') ? '&' : '?'}x`].map((t) => tagOf(t)),
        );
        expect(tags[0]).to.match(/^"[!#-~]+"$/);
        expect(tags[1]).to.equal(tags[0]);
        expect(tags[2]).not.to.equal(tags[0]);
      });

      it('is 304 with the same headers for its tag', async () => {
        const first = await given.api.send(target, { headers: preview });
        const tag = first.headers['etag'];
        for (const condition of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
          const again = await given.api.send(target, { headers: { ...preview, 'If-None-Match': condition } });
          expect(again.status, condition).to.equal(304);
          expect(again.text).to.equal('');
          for (const name of ['etag', 'cache-control', 'vary', 'service-snapshot-id', 'service-data-as-of']) {
            expect(again.headers[name], name).to.equal(first.headers[name]);
          }
          expect(again.headers).not.to.have.any.keys('content-length', 'content-type');
        }
      });

      it('is 200 for any other tag', async () => {
        for (const condition of ['"x"', '', 'x', await tagOf('/v1/tickets')]) {
          const { status } = await given.api.send(target, {
            headers: { ...preview, 'If-None-Match': condition },
          });
          expect(status, condition).to.equal(200);
        }
      });
    });
  }

  it('is private, varies by key, version and content coding, and requires revalidation', async () => {
    const { headers } = await given.api.send('/v1/tickets');
    expect(headers['cache-control']).to.equal('private, no-cache');
    expect(headers['vary']).to.equal('Authorization, Service-API-Version, Accept, Accept-Encoding');
  });

  it('names the snapshot and its production time', async () => {
    const { image } = await fixture();
    for (const target of ['/v1/tickets', '/v1/tickets?page=9']) {
      const { headers } = await given.api.send(target);
      expect(headers['service-snapshot-id']).to.equal(image.snapshotId);
      expect(headers['service-data-as-of']).to.equal(image.producedAt);
    }
  });

  it('is not 304 for missing records', async () => {
    for (const [target, status] of [
      ['/v1/tickets?page=9', 204],
      ['/v1/tickets/none', 404],
      ['/v1/events/none/sessions', 404],
      ['/v1/tickets?page=0', 400],
    ] as const) {
      for (const condition of ['*', await tagOf('/v1/tickets'), await tagOf('/v1/tickets/tkt_05')]) {
        const response = await given.api.send(target, { headers: { 'If-None-Match': condition } });
        expect(response.status, target).to.equal(status);
      }
    }
  });

  it('forbids storing problems', async () => {
    for (const target of ['/v1/tickets/none', '/v1/tickets?page=0', '/v1/none']) {
      const { headers } = await given.api.send(target);
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers).not.to.have.property('etag');
    }
  });

  it('has another tag for another host, because links begin with it', async () => {
    expect(await tagOf('/v1/tickets', { Host: 'other.example' })).not.to.equal(await tagOf('/v1/tickets'));
  });

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

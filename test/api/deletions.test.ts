import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { DELETIONS, fixture, HARD_ID } from '../support/api-fixture.ts';
import { givenApi, TestApi } from '../support/test-api.ts';

const preview = { headers: { 'Service-API-Version': 'preview' } };

describe('Deletions', () => {
  const given = givenApi();
  const listed = async (query: string) => {
    const { body } = await given.api.send(`/v1/deletions?${query}`, preview);
    return body.items;
  };

  it('are listed earliest first, then by id, then by collection, with their three fields', async () => {
    expect(await listed('')).to.deep.equal(DELETIONS.north);
    const { text } = await given.api.send('/v1/deletions?perPage=1', preview);
    const [first] = DELETIONS.north;
    expect(text).to.include(`{"items":[${JSON.stringify(first)}],`);
  });

  const gone = (position: number) => DELETIONS.north[position];
  for (const [query, positions] of [
    ['collection=tickets', [0, 4, 5]],
    ['collection=events', [2]],
    ['collection=sessions', [3]],
    ['collection=offers', [6]],
    ['deletedAt.gte=2026-10-03T04:00:00Z', [2, 3, 4, 5, 6]],
    ['deletedAt.gte=2026-10-03T04:00:00.000001Z', [5, 6]],
    ['deletedAt.lte=2026-10-03T06:00:00%2B02:00', [0, 1, 2, 3, 4]],
    ['deletedAt.gte=2026-10-02T00:00:00Z&deletedAt.lte=2026-11-20T23:59:59Z&collection=tickets', [4, 5]],
    ['deletedAt.gte=2026-11-22T00:00:00Z', []],
  ] as const) {
    it(`are filtered by ${query}`, async () => {
      expect(await listed(query)).to.deep.equal(positions.map(gone));
    });
  }

  for (const query of [
    'collection=ticket',
    'collection=Tickets',
    'collection=',
    'collection=tickets,orders',
    'collection=deletions',
    'deletedAt.gte=2026-10-03',
  ]) {
    it(`are refused with ${query}`, async () => {
      const { status, body } = await given.api.send(`/v1/deletions?${query}`, preview);
      expect(status).to.equal(400);
      expect(body.errors.map(({ loc }) => loc)).to.deep.equal([`query.${query.split('=')[0]}`]);
    });
  }

  it('belong to the preview version only', async () => {
    const { status, body } = await given.api.send('/v1/deletions');
    expect(status).to.equal(404);
    expect(body.detail).to.match(/Service-API-Version: preview/);
  });

  it('are those of the organization of the key', async () => {
    const listedAs = async (as: 'south' | 'void') =>
      (await given.api.send('/v1/deletions', { ...preview, as })).body.items;
    expect(await listedAs('south')).to.deep.equal(DELETIONS.south);
    expect(await listedAs('void')).to.deep.equal([]);
  });

  it('have no records by id', async () => {
    for (const id of ['gone_a', encodeURIComponent(HARD_ID)])
      expect((await given.api.send(`/v1/deletions/${id}`, preview)).status).to.equal(404);
  });

  it('are walked page by page, and 204 beyond the last page', async () => {
    const found: unknown[] = [];
    for (let page = 1; page <= 4; page++) found.push(...(await listed(`perPage=2&page=${page}`)));
    expect(found).to.deep.equal(DELETIONS.north);
    expect((await given.api.send('/v1/deletions?perPage=2&page=5', preview)).status).to.equal(204);
  });

  it('are read with HEAD', async () => {
    const got = await given.api.send('/v1/deletions', preview);
    const head = await given.api.send('/v1/deletions', { ...preview, method: 'head' });
    expect([head.status, head.text, head.headers['etag']]).to.deep.equal([200, '', got.headers['etag']]);
  });

  describe('are apart from the content of the organization:', () => {
    let stores: StoreRegistry;
    let api: TestApi;
    const TAGGED = ['/v1/deletions?perPage=2', '/v1/tickets?perPage=2', '/v1/events/evt_a'];
    const tags = () =>
      Promise.all(TAGGED.map(async (target) => (await api.send(target, preview)).headers['etag']));

    beforeEach(async () => {
      stores = new StoreRegistry();
      api = await TestApi.start({ stores: () => stores.view });
      stores.swap('a.sqlite', (await fixture()).image);
    });
    afterEach(() => api.stop());

    /** Makes the fixture live with other content or deletions. */
    async function swap(changed: 'organizations' | 'deletions'): Promise<void> {
      const { image } = await fixture();
      const other = <Image>(part: Image) => ({ ...part, contentDigest: 'x'.repeat(43) });
      const organizations =
        changed === 'organizations' ? image.organizations.map(other) : image.organizations;
      const deletions = changed === 'deletions' ? image.deletions.map(other) : image.deletions;
      stores.swap('a.sqlite', {
        snapshotId: `other ${changed}`,
        producedAt: image.producedAt,
        organizations,
        deletions,
      });
      stores.releaseUnwalked();
    }

    it('their tag changes only with them', async () => {
      const before = await tags();
      await swap('organizations');
      const withContent = await tags();
      expect(withContent.map((tag, i) => tag === before[i])).to.deep.equal([true, false, false]);
      await swap('deletions');
      expect((await tags()).map((tag, i) => tag === before[i])).to.deep.equal([false, true, true]);
    });

    it('a walk over them stays on them when they change, and releases the content', async () => {
      const { body } = await api.send('/v1/deletions?perPage=2', preview);
      await swap('organizations');
      await swap('deletions');
      expect(stores.retained.map(({ store }) => 'deletions' in store.image)).to.deep.equal([true]);
      const { pathname, search } = new URL(String(body.nextPage));
      const { status, headers, body: second } = await api.send(pathname + search, preview);
      expect(status).to.equal(200);
      expect(second.items).to.deep.equal(DELETIONS.north.slice(2, 4));
      expect(headers['service-snapshot-id']).to.equal('other organizations');
    });

    it('the digest of the content selects no deletions, and that of the deletions no content', async () => {
      const view = stores.view;
      const pins = [view.get('north'), view.getDeletions('north')].map((store) =>
        String(store?.contentDigest),
      );
      const statuses = await Promise.all(
        [
          `/v1/tickets?snapshot=${pins[0]}`,
          `/v1/deletions?snapshot=${pins[1]}`,
          `/v1/tickets?snapshot=${pins[1]}`,
          `/v1/deletions?snapshot=${pins[0]}`,
        ].map(async (target) => (await api.send(target, preview)).status),
      );
      expect(statuses).to.deep.equal([200, 200, 429, 429]);
    });
  });
});

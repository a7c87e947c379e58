import { expect } from 'chai';
import { Pins } from '../../src/http/checks/pin.ts';
import { sharedUint32s } from '../../src/store/memory/shared-arrays.ts';
import { type OrganizationImage, byList } from '../../src/store/organization-image.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture } from '../support/api-fixture.ts';
import { emptyHistory, emptySnapshot, WALKED } from '../support/empty-image.ts';
import { organizationOf } from '../support/import-folder.ts';
import { type ApiResponse, TestApi } from '../support/test-api.ts';

const SECOND = 1000;
/** The defaults. */
const RETENTION = { ...WALKED, snapshotRetainSeconds: 300, snapshotRetainMaxSeconds: 3600 };

/** Returns a well-formed digest. */
const digestOf = (text: string) => text.padEnd(43, '_');
const locsOf = ({ body }: ApiResponse) => body.errors.map(({ loc }) => loc);

describe('A walk', () => {
  let now: number;
  let stores: StoreRegistry;
  let api: TestApi;
  let content: OrganizationImage;
  let snapshots = 0;

  beforeEach(async () => {
    now = 1_000_000 * SECOND;
    const served = newServedDigests();
    stores = new StoreRegistry(served, () => now);
    api = await TestApi.start({ stores: () => stores.view, pins: new Pins(served, () => now) });
    const { image } = await fixture();
    content = organizationOf(image, 'north');
    swap('first');
  });
  afterEach(() => api.stop());

  /** Makes a snapshot live whose content has this name. */
  function swap(name: string): void {
    // Copies, as of a load.
    const lists = byList((list) => ({
      ...content.lists[list],
      digest: digestOf(name),
      uses: sharedUint32s(2),
    }));
    const organizations = [{ organizationId: 'north', history: emptyHistory(), lists }];
    const producedAt = '2026-11-21T04:00:00.000Z';
    stores.swap('fixture', { snapshotId: `${name} ${++snapshots}`, producedAt, organizations });
    stores.releaseExpired(WALKED);
  }

  /** Lets time pass, with the periodic release of stores. */
  function pass(seconds: number): void {
    now += seconds * SECOND;
    stores.releaseExpired(RETENTION);
  }

  const page = (name: string, more = '') => `/v1/tickets?perPage=2&page=2&snapshot=${digestOf(name)}${more}`;
  const statusOf = async (target: string) => (await api.send(target)).status;

  it('keeps its data as long as it takes a page within the time, up to the maximum', async () => {
    await api.send('/v1/tickets?perPage=2');
    swap('second');
    for (let minute = 4; minute < 60; minute += 4) {
      pass(4 * 60);
      const { status, headers } = await api.send(page('first'));
      expect([status, headers['service-snapshot-id']], `minute ${minute}`).to.deep.equal([200, 'first 1']);
    }
    pass(4 * 60);
    const gone = await api.send(page('first'));
    expect(gone.status).to.equal(400);
    expect(locsOf(gone)).to.deep.equal(['query.snapshot']);
    expect(gone.body.errors[0]).to.include({ input: digestOf('first') });
    expect(gone.body.errors[0].ctx).to.match(/begin again/);
  });

  it('extends the retention by the last page, too', async () => {
    await api.send('/v1/tickets?perPage=2');
    swap('second');
    for (let i = 0; i < 3; i++) {
      pass(200);
      expect(await statusOf(`/v1/tickets?perPage=100&page=1&snapshot=${digestOf('first')}`)).to.equal(200);
    }
  });

  it('extends the retention by a page that 304 confirms, also the first one after a restart', async () => {
    const target = '/v1/tickets?perPage=2';
    const { headers } = await api.send(target);
    stores = new StoreRegistry(newServedDigests(), () => now);
    swap('first');
    const again = await api.send(target, { headers: { 'If-None-Match': headers['etag'] } });
    expect(again.status).to.equal(304);
    swap('second');
    const next = await api.send(page('first'));
    expect(next.status).to.equal(200);
    for (let i = 0; i < 3; i++) {
      pass(200);
      const headers = { 'If-None-Match': next.headers['etag'] };
      expect((await api.send(page('first'), { headers })).status).to.equal(304);
    }
  });

  it('is refused with all violations of the query', async () => {
    swap('second');
    const refused = await api.send(`/v1/tickets?page=0&perPage=101&snapshot=${digestOf('first')}`);
    expect(refused.status).to.equal(400);
    expect(locsOf(refused)).to.have.members(['query.page', 'query.perPage', 'query.snapshot']);
    const unknown = await api.send(`/v1/tickets?page=0&snapshot=${digestOf('new')}`);
    expect(locsOf(unknown)).to.deep.equal(['query.page']);
    const headers = { Accept: 'application/x-ndjson' };
    const stream = await api.send(page('first', '&updatedAt.gte=x'), { headers });
    expect(locsOf(stream)).to.have.members([
      'query.page',
      'query.perPage',
      'query.updatedAt.gte',
      'query.snapshot',
    ]);
    const twice = await api.send(`${page('first')}&snapshot=${digestOf('second')}`);
    expect(new Set(locsOf(twice))).to.deep.equal(new Set(['query.snapshot']));
  });

  it('is refused at once, for content that was replaced or removed before', async () => {
    swap('second');
    stores.swap('fixture', emptySnapshot('none'));
    swap('third');
    for (const name of ['first', 'second']) expect(await statusOf(page(name)), name).to.equal(400);
  });

  it('waits for content that was never served: 429 for 30 seconds since the first request, then 400', async () => {
    for (const seconds of [0, 1, 14, 14.9]) {
      pass(seconds);
      const { status, headers, body } = await api.send(page('new'));
      expect([status, headers['retry-after']], `${now}`).to.deep.equal([429, '1']);
      expect(body.detail).to.match(/not loaded yet/);
    }
    expect(api.logged.at(-1)).to.include({ pin: 'not-loaded' });
    pass(0.1);
    const late = await api.send(page('new'));
    expect(late.status).to.equal(400);
    expect(locsOf(late)).to.deep.equal(['query.snapshot']);
    expect(api.logged.at(-1)).to.include({ pin: 'gone' });
    expect(await statusOf(page('newer')), 'other content').to.equal(429);
    swap('new');
    expect(await statusOf(page('new')), 'the content has arrived').to.equal(200);
  });

  it('does not wait for a malformed digest or an invalid query', async () => {
    expect(await statusOf(`/v1/tickets?snapshot=${'x'.repeat(44)}`)).to.equal(400);
    expect(await statusOf(page('new', '&updatedAt.gte=x'))).to.equal(400);
    pass(31);
    expect(await statusOf(page('new')), 'the first valid request').to.equal(429);
  });
});

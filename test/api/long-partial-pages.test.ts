import { expect } from 'chai';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { builtFrom } from '../support/import-folder.ts';
import { minimalPricing, recordsIn, times } from '../support/records.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { givenApi } from '../support/test-api.ts';

const OFFERS = 100;
const PRICINGS = 2000;
const PATH = '/v1/catalog/offers?resaleEnabled=true&perPage=100';
const PREVIEW = { 'Service-API-Version': 'preview', 'Accept-Encoding': 'identity' };

describe('A page of long partial offers', () => {
  const inFolder = folderForAll();
  const stores = new StoreRegistry();
  const given = givenApi(() => ({ stores: () => stores.view }));

  before(async () => {
    const { event, session, offer } = recordsIn('north');
    const pricing = times(PRICINGS, (i) => minimalPricing(`p${i}`, { resaleEnabled: i % 2 === 0 }));
    const { image } = await builtFrom(inFolder('import'), {
      organizations: [{ organizationId: 'north' }],
      events: [event('evt_0')],
      sessions: [session('ses_0', 'evt_0')],
      offers: times(OFFERS, (i) => offer(`off_${i}`, 'TICKET', { pricing })),
    });
    stores.swap('a.sqlite', image);
  });

  /** Counts the turns of the event loop in which others have theirs, until a request is answered. */
  async function turnsOf<T>(response: Promise<T>): Promise<[T, number]> {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const answered = await response;
    isOver = true;
    return [answered, turns];
  }

  it('counts as a stream: the third at once of a key gets 429', async () => {
    const statuses = await Promise.all(
      (['get', 'head', 'get', 'head'] as const).map(async (method) => {
        const { status } = await given.api.send(PATH, { headers: PREVIEW, method });
        return status;
      }),
    );
    expect(statuses.toSorted()).to.deep.equal([200, 200, 429, 429]);
  });

  it('is cut in turns, one offer in each, and has what a short one has', async () => {
    const [{ body, headers, text }, turns] = await turnsOf(given.api.send(PATH, { headers: PREVIEW }));
    expect(turns).to.be.at.least(OFFERS);
    expect(body.items).to.have.length(OFFERS);
    for (const { pricing } of body.items) expect(pricing).to.have.length(PRICINGS / 2);
    expect(body).to.include({ page: 1, perPage: 100, totalPages: 1, hasMore: false, nextPage: null });
    expect(Number(headers['content-length'])).to.equal(Buffer.byteLength(text));
    const [head] = await turnsOf(given.api.send(PATH, { headers: PREVIEW, method: 'head' }));
    expect(head.headers).to.include({ 'content-length': headers['content-length'], etag: headers['etag'] });
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { OPERATIONS } from '../../../src/contract/operations.ts';
import { openApiDocument } from '../../../src/contract/openapi/document.ts';
import { RELEASES } from '../../../src/contract/releases.ts';
import {
  entriesOf,
  linkTo,
  queryOf,
  queryOfLink,
  routeOf,
  withFirstPage,
  withParameters,
} from '../../../src/pages/explorer/address.js';
import {
  Contract,
  listRequest,
  type OpenApi,
  recordRequest,
  walkRequest,
} from '../../../src/pages/explorer/contract.js';
import { exampleOf, kindOf, submitted } from '../../../src/pages/explorer/filter-form.js';
import { pageNumbers } from '../../../src/pages/explorer/list-view.js';

const contract = new Contract(JSON.parse(JSON.stringify(openApiDocument(RELEASES, undefined))) as OpenApi);

describe("The explorer's lists", () => {
  it('are those of the contract', () => {
    const declared = OPERATIONS.filter(({ kind }) => kind === 'list').map(({ path }) => path);
    expect(contract.lists.map(({ path }) => path)).to.have.members(declared);
    const names = contract.organizationLists.map(({ name }) => name);
    expect(names).to.deep.equal(['events', 'tickets', 'orders', 'offers']);
  });

  it('are requested with their version, and their records by path', () => {
    expect(recordRequest(contract.list('offers'), 'off/7?')).to.deep.equal({
      target: 'v1/catalog/offers/off%2F7%3F',
      headers: [['Service-API-Version', 'preview']],
    });
    const sessions = contract.list('sessions');
    expect(sessions.recordPath).to.equal(undefined);
    expect(listRequest(sessions, ['a/b?'], [['page', '2']])).to.deep.equal({
      target: 'v1/events/a%2Fb%3F/sessions?page=2',
      headers: [],
    });
    const { target } = walkRequest(contract.list('tickets'), [], [['eventIds', 'evt_1']]);
    expect(target).to.equal('v1/tickets?eventIds=evt_1&perPage=100');
  });

  it('have the schema of a record by its discriminator', () => {
    const { record } = contract.list('offers');
    expect(contract.resolve(record, { type: 'BUNDLE' }).properties).to.include.keys('contains');
    expect(contract.resolve(record, { type: 'TICKET' }).properties).to.include.keys('optionOffers');
  });
});

describe('A form of filters', () => {
  const { filters } = contract.list('tickets');

  it('has a field for each parameter but those of pages, of a kind that the schema tells', () => {
    const all = contract.lists.flatMap((list) => list.filters);
    const namesOf = (kind: string) =>
      new Set(all.filter((filter) => kindOf(filter) === kind).map(({ name }) => name));
    expect(namesOf('choice')).to.have.keys('resaleEnabled', 'status', 'type');
    expect(namesOf('list')).to.have.keys('eventIds', 'orderIds', 'qrCodes', 'sessionIds', 'tags');
    expect(namesOf('text')).to.have.keys('email', 'eventId', 'sessionId');
    const bounds = ['startAt.gt', 'startAt.lt', 'startAt.gte', 'startAt.lte'];
    const ranges = ['createdAt.gte', 'createdAt.lte', 'updatedAt.gte', 'updatedAt.lte'];
    expect(namesOf('instant')).to.have.keys(...bounds, ...ranges);
  });

  it('shows an example in each field for a text', () => {
    const fields = filters.filter((filter) => ['list', 'text'].includes(kindOf(filter)));
    expect(fields.map(exampleOf)).to.include('evt_42,evt_43').and.not.include('');
  });

  it('makes a query of its fields', () => {
    const fields: Record<string, string> = {
      'updatedAt.gte': '2026-09-01',
      'updatedAt.gte time': '08:30',
      'updatedAt.gte zone': '+02:00',
      sessionIds: 'ses_1, ses_2',
      orderIds: 'a&b,',
    };
    expect(queryOf(submitted(filters, (name) => fields[name] ?? ''))).to.equal(
      'updatedAt.gte=2026-09-01T08:30%2B02:00&sessionIds=ses_1,ses_2&orderIds=a%26b,',
    );
  });
});

describe('A date without a time', () => {
  it('has its whole day within the bound or outside', () => {
    const { filters } = contract.list('sessions');
    const fieldOf = (name: string) =>
      name.endsWith(' zone') ? 'Z' : name.endsWith(' time') ? '' : '2026-09-01';
    expect(Object.fromEntries(submitted(filters, fieldOf))).to.include({
      'startAt.gte': '2026-09-01T00:00Z',
      'startAt.gt': '2026-09-01T23:59:59.999Z',
      'startAt.lte': '2026-09-01T23:59:59.999Z',
      'startAt.lt': '2026-09-01T00:00Z',
    });
  });
});

describe('A query of the explorer', () => {
  it('keeps every value', () => {
    const entries = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })));
    fc.assert(
      fc.property(entries, (each) => {
        expect(entriesOf(queryOf(each))).to.deep.equal(each);
      }),
    );
  });

  it('changes and removes parameters, or all of a page, to return to the first one on the live data', () => {
    const changed = withParameters('page=3&tags=a&perPage=10', { page: undefined, perPage: '50' });
    expect(changed).to.equal('tags=a&perPage=50');
    expect(withFirstPage('page=3&snapshot=s&tags=a&perPage=10', { tags: undefined })).to.equal('perPage=10');
  });

  it('is that of a nextPage link, whose origin may be another one', () => {
    const link = 'https://public.example/x/v1/events?tags=a%2Cb&page=2&snapshot=s';
    expect(queryOfLink(link)).to.equal('tags=a,b&page=2&snapshot=s');
  });
});

describe('A place of the explorer', () => {
  it('is named by the hash of the address', () => {
    expect(routeOf('#/tickets/a%2Fb?page=2')).to.deep.equal({
      segments: ['tickets', 'a/b'],
      query: 'page=2',
    });
    expect(routeOf('')).to.deep.equal({ segments: [], query: '' });
    expect(routeOf('#/events/%E0%A4%A')).to.deep.equal({ segments: ['events', '%E0%A4%A'], query: '' });
  });

  it('is found again by its link', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 })), (segments) => {
        expect(routeOf(linkTo(segments, 'a=b?c'))).to.deep.equal({ segments, query: 'a=b?c' });
      }),
    );
  });
});

describe('The pager', () => {
  it('links to the first, the last, and the pages around', () => {
    expect(pageNumbers(1, 1)).to.deep.equal([1]);
    expect(pageNumbers(2, 4)).to.deep.equal([1, 2, 3, 4]);
    expect(pageNumbers(40, 75)).to.deep.equal([1, 0, 39, 40, 41, 0, 75]);
  });
});

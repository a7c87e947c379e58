import { expect } from 'chai';
import { OPERATIONS } from '../../../src/contract/operations.ts';
import { linkHeader, nextPageLink } from '../../../src/http/reads/records.ts';

const plan = {
  collection: 'events',
  where: [],
  page: 3,
  perPage: 25,
} as const;

const operation = OPERATIONS.find(({ id }) => id === 'listEvents');
if (operation?.kind !== 'list') throw new TypeError('listEvents is no list');

describe('nextPageLink', () => {
  const linkFor = (address: string, query: readonly (readonly [name: string, text: string])[]) =>
    nextPageLink(address, operation, new Map(query.map(([name, text]) => [name, [text]])), plan, 'PIN');

  it('keeps the parameters of the operation, and names page, perPage and the pin', () => {
    const query = [
      ['page', '3'],
      ['snapshot', 'EARLIER'],
      ['tags', 'Théâtre,R&B'],
      ['unknown', '1'],
      ['startAt.gte', '2026-01-01T00:00:00+01:00'],
    ] as const;
    expect(linkFor('https://api.example.org/v1/events', query)).to.equal(
      'https://api.example.org/v1/events?tags=Th%C3%A9%C3%A2tre%2CR%26B' +
        '&startAt.gte=2026-01-01T00%3A00%3A00%2B01%3A00&page=4&perPage=25&snapshot=PIN',
    );
  });

  it('names them when the request has no parameters', () => {
    expect(linkFor('http://h/v1/events', [])).to.equal('http://h/v1/events?page=4&perPage=25&snapshot=PIN');
  });
});

describe('linkHeader', () => {
  it('is the link in angle brackets, with its relation', () => {
    expect(linkHeader('http://h/a?b')).to.deep.equal(['Link', '<http://h/a?b>; rel="next"']);
  });

  it('is absent without a link, and for a link of more than 2,000 characters', () => {
    const link = `http://h/${'a'.repeat(1991)}`;
    expect(linkHeader(link)).to.have.length(2);
    expect(linkHeader(`${link}a`)).to.deep.equal([]);
    expect(linkHeader(undefined)).to.deep.equal([]);
  });
});

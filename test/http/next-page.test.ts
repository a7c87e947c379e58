import { expect } from 'chai';
import { nextPageLink } from '../../src/http/next-page.ts';

const plan = {
  collection: 'events',
  where: [],
  view: {},
  isPartialView: false,
  page: 3,
  perPage: 25,
} as const;

describe('nextPageLink', () => {
  it('keeps what was given, and names page, perPage and the pin', () => {
    const values = new Map([
      ['page', '3'],
      ['snapshot', 'EARLIER'],
      ['tags', 'Théâtre,R&B'],
      ['startAt.gte', '2026-01-01T00:00:00+01:00'],
    ]);
    expect(nextPageLink('https://api.example.org/v1/events', values, plan, 'PIN')).to.equal(
      'https://api.example.org/v1/events?tags=Th%C3%A9%C3%A2tre%2CR%26B' +
        '&startAt.gte=2026-01-01T00%3A00%3A00%2B01%3A00&page=4&perPage=25&snapshot=PIN',
    );
  });

  it('names them when nothing was given', () => {
    expect(nextPageLink('http://h/v1/events', new Map(), plan, 'PIN')).to.equal(
      'http://h/v1/events?page=4&perPage=25&snapshot=PIN',
    );
  });
});

import { expect } from 'chai';
import type { Release } from '../../src/contract/releases.ts';
import { Editions } from '../../src/http/editions.ts';

const releases: readonly Release[] = [
  { date: '2026-10-01', operations: ['listEvents'] },
  { date: '2027-03-01', operations: ['listOffers', 'getOffer'] },
];
const LAST_MOMENT_BEFORE = Date.parse('2027-02-28T23:59:59.999Z');
const FIRST_MOMENT = Date.parse('2027-03-01T00:00:00.000Z');

describe('Editions', () => {
  const editions = new Editions(releases);
  const told = (header: string | undefined, now: number) => {
    const edition = editions.select(header, now);
    if (edition === undefined) return undefined;
    expect(edition.headers.slice(0, 3)).to.deep.equal([
      'Service-API-Version',
      edition.version,
      'Service-API-Latest-Version',
    ]);
    return [edition.version, edition.headers[3], edition.operations.has('listOffers')];
  };

  it('turns to the new day at 00:00 UTC', () => {
    expect(told(undefined, LAST_MOMENT_BEFORE)).to.deep.equal(['stable', '2026-10-01', false]);
    expect(told('2027-03-01', LAST_MOMENT_BEFORE)).to.deep.equal(['2027-03-01', '2026-10-01', true]);
    expect(told(undefined, FIRST_MOMENT)).to.deep.equal(['stable', '2027-03-01', true]);
    expect(told('2027-03-01', FIRST_MOMENT)).to.deep.equal(['stable', '2027-03-01', true]);
  });

  it('turns back with the clock', () => {
    expect(told(undefined, LAST_MOMENT_BEFORE)).to.deep.equal(['stable', '2026-10-01', false]);
  });

  it('does not work out an edition twice on a day', () => {
    expect(editions.select('preview', FIRST_MOMENT)).to.equal(editions.select('preview', FIRST_MOMENT + 1));
    expect(editions.stable(FIRST_MOMENT)).to.equal(editions.select('stable', FIRST_MOMENT));
  });

  it('has none for a value that is not valid', () => {
    expect(editions.select('Preview', FIRST_MOMENT)).to.equal(undefined);
  });
});

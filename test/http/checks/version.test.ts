import { expect } from 'chai';
import type { Release } from '../../../src/contract/releases.ts';
import { ApiVersions } from '../../../src/http/checks/version.ts';

const releases: readonly Release[] = [
  { date: '2026-10-01', operations: ['listEvents'] },
  { date: '2027-03-01', operations: ['listOffers', 'getOffer'] },
];
const LAST_MOMENT_BEFORE = Date.parse('2027-02-28T23:59:59.999Z');
const FIRST_MOMENT = Date.parse('2027-03-01T00:00:00.000Z');

describe('The versions of the API', () => {
  const versions = new ApiVersions(releases);
  const told = (header: string | undefined, now: number) => {
    const selected = versions.select(header, now);
    if (selected === undefined) return undefined;
    expect(selected.headers.slice(0, 3)).to.deep.equal([
      'Service-API-Version',
      selected.version,
      'Service-API-Latest-Version',
    ]);
    return [selected.version, selected.headers[3], selected.operations.has('listOffers')];
  };

  it('turn to the new day at 00:00 UTC', () => {
    expect(told(undefined, LAST_MOMENT_BEFORE)).to.deep.equal(['stable', '2026-10-01', false]);
    expect(told('2027-03-01', LAST_MOMENT_BEFORE)).to.deep.equal(['2027-03-01', '2026-10-01', true]);
    expect(told(undefined, FIRST_MOMENT)).to.deep.equal(['stable', '2027-03-01', true]);
    expect(told('2027-03-01', FIRST_MOMENT)).to.deep.equal(['stable', '2027-03-01', true]);
  });

  it('turn back with the clock', () => {
    expect(told(undefined, LAST_MOMENT_BEFORE)).to.deep.equal(['stable', '2026-10-01', false]);
  });

  it('are made once a day', () => {
    expect(versions.select('preview', FIRST_MOMENT)).to.equal(versions.select('preview', FIRST_MOMENT + 1));
    expect(versions.stable(FIRST_MOMENT)).to.equal(versions.select('stable', FIRST_MOMENT));
  });

  it('have none for a value that is not valid', () => {
    expect(versions.select('Preview', FIRST_MOMENT)).to.equal(undefined);
  });
});

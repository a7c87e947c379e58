import { expect } from 'chai';
import type { Release } from '../../../src/contract/releases.ts';
import { versionResolver } from '../../../src/http/checks/version.ts';

const releases: readonly Release[] = [
  { date: '2026-10-01', operations: ['listEvents'] },
  { date: '2027-03-01', operations: ['listOffers', 'getOffer'] },
];
const LAST_MOMENT_BEFORE = Date.parse('2027-02-28T23:59:59.999Z');
const FIRST_MOMENT = Date.parse('2027-03-01T00:00:00.000Z');

describe('The version of a request', () => {
  const resolve = versionResolver(releases);
  const resolved = (header: string | undefined, now: number) => {
    const { name, headers, isValid } = resolve(header, now);
    expect(headers.slice(0, 3)).to.deep.equal(['Service-API-Version', name, 'Service-API-Latest-Version']);
    return [name, headers[3], isValid];
  };

  it('follows the releases from 00:00 UTC of their day', () => {
    expect(resolved(undefined, LAST_MOMENT_BEFORE)).to.deep.equal(['stable', '2026-10-01', true]);
    expect(resolved('2027-03-01', LAST_MOMENT_BEFORE)).to.deep.equal(['2027-03-01', '2026-10-01', true]);
    expect(resolved(undefined, FIRST_MOMENT)).to.deep.equal(['stable', '2027-03-01', true]);
    expect(resolved('2027-03-01', FIRST_MOMENT)).to.deep.equal(['stable', '2027-03-01', true]);
  });

  it('is the stable one in the response to an invalid header', () => {
    expect(resolved('Preview', FIRST_MOMENT)).to.deep.equal(['stable', '2027-03-01', false]);
  });
});

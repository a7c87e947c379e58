import { expect } from 'chai';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { type Release, RELEASES, selectVersion } from '../../src/contract/releases.ts';
import { isCalendarDate } from '../../src/contract/timestamp.ts';

describe('RELEASES', () => {
  it('are in ascending order of real days, and name existing operations once each', () => {
    const dates = RELEASES.map(({ date }) => date);
    expect(dates).to.deep.equal([...new Set(dates)].sort());
    expect(dates.every(isCalendarDate)).to.equal(true);
    const named = RELEASES.flatMap(({ operations }) => operations);
    expect(named).to.deep.equal([...new Set(named)]);
    expect(OPERATIONS.map(({ id }) => id)).to.include.members(named);
  });
});

describe('selectVersion', () => {
  const releases: readonly Release[] = [
    { date: '2026-10-01', operations: ['listEvents'] },
    { date: '2027-03-01', operations: ['listOffers'] },
  ];
  const before = { latest: '2026-10-01', operations: ['listEvents'] };
  const after = { latest: '2027-03-01', operations: ['listEvents', 'listOffers'] };
  const upcoming = { name: '2027-03-01', ...after };
  const preview = {
    name: 'preview',
    latest: '2026-10-01',
    operations: ['listEvents', 'listOffers', 'other'],
  };
  const cases: [today: string, header: string | undefined, version: object][] = [
    ['2026-09-30', undefined, before],
    ['2026-11-01', undefined, before],
    ['2027-02-28', 'stable', before],
    ['2027-03-01', 'stable', after],
    ['2027-02-28', 'preview', preview],
    ['2027-02-28', '2027-03-01', upcoming],
    ['2027-03-01', '2027-03-01', after],
    ['2027-03-02', '2027-03-01', after],
    ['2026-11-01', '2026-10-01', before],
    ['2026-11-01', '2027-03-02', before],
    ['2026-11-01', '1999-12-31', before],
    ['2026-11-01', '2028-02-29', before],
  ];
  for (const [today, header, version] of cases) {
    it(`selects a version for ${String(header)} on ${today}`, () => {
      const { has, ...selected } = selectVersion(header, releases, Date.parse(today));
      const operations = ['listEvents', 'listOffers', 'other'].filter(has);
      expect({ ...selected, operations }).to.deep.equal({
        name: 'stable',
        isValid: true,
        ...version,
      });
    });
  }

  it('marks every other value as invalid, and selects the stable version for it', () => {
    const now = Date.parse('2026-11-01');
    for (const header of '2026-02-30|2026-2-3|2026-10-01T00:00Z||Stable|stable, stable|latest'.split('|'))
      expect(selectVersion(header, releases, now)).to.include({ name: 'stable', isValid: false });
  });
});

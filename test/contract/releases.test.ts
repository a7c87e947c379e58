import { expect } from 'chai';
import { OPERATIONS } from '../../src/contract/operations.ts';
import {
  endOf,
  operationsOf,
  latestVersion,
  type Release,
  RELEASES,
  selectVersion,
} from '../../src/contract/releases.ts';
import { isCalendarDate } from '../../src/contract/timestamp.ts';

const releases: readonly Release[] = [
  { date: '2026-10-01', operations: ['listEvents'] },
  { date: '2027-03-01', operations: ['listOffers'] },
];

describe('RELEASES', () => {
  it('are in ascending order of real days, and name existing operations once each', () => {
    const dates = RELEASES.map(({ date }) => date);
    expect(dates).to.deep.equal([...new Set(dates)].sort());
    const named = RELEASES.flatMap(({ operations }) => operations);
    expect(named).to.deep.equal([...new Set(named)]);
    expect(OPERATIONS.map(({ id }) => id)).to.include.members(named);
  });

  it('hold every operation but the catalog and the changes', () => {
    const preview = OPERATIONS.filter(
      ({ id }) => !RELEASES.some(({ operations }) => operations.includes(id)),
    );
    expect(preview.map(({ id }) => id)).to.deep.equal(['listOffers', 'getOffer', 'readChanges']);
  });
});

describe('The announced ends', () => {
  it('are real days, and no sunset is before the deprecation', () => {
    for (const { end } of [...RELEASES, ...OPERATIONS]) {
      if (end === undefined) continue;
      const { deprecated, sunset = deprecated } = end;
      expect([deprecated, sunset].every(isCalendarDate)).to.equal(true);
      expect(sunset >= deprecated, `${sunset} is before ${deprecated}`).to.equal(true);
    }
  });
});

describe('endOf', () => {
  const first = { deprecated: '2027-01-01', sunset: '2027-03-01' };
  const second = { deprecated: '2028-01-01' };
  const ending = [
    { ...releases[0], end: first },
    { ...releases[1], end: second },
  ];
  const cases: [version: string, today: string, end: object | undefined][] = [
    ['stable', '2026-09-30', first],
    ['stable', '2027-02-28', first],
    ['stable', '2027-03-01', second],
    ['2027-03-01', '2027-02-28', second],
    ['preview', '2027-02-28', undefined],
  ];
  for (const [version, today, end] of cases) {
    it(`of ${version} on ${today} is ${JSON.stringify(end)}`, () => {
      expect(endOf(version, ending, today)).to.deep.equal(end);
      expect(endOf(version, releases, today)).to.equal(undefined);
    });
  }
});

describe('selectVersion', () => {
  const cases: [header: string | undefined, today: string, version: string | undefined][] = [
    [undefined, '2026-11-01', 'stable'],
    ['stable', '2026-11-01', 'stable'],
    ['preview', '2026-11-01', 'preview'],
    ['2027-03-01', '2027-02-28', '2027-03-01'],
    ['2027-03-01', '2027-03-01', 'stable'],
    ['2027-03-01', '2027-03-02', 'stable'],
    ['2026-10-01', '2026-11-01', 'stable'],
    ['2027-03-02', '2026-11-01', 'stable'],
    ['1999-12-31', '2026-11-01', 'stable'],
    ['2028-02-29', '2026-11-01', 'stable'],
    ['2026-02-30', '2026-11-01', undefined],
    ['2026-2-3', '2026-11-01', undefined],
    ['2026-10-01T00:00Z', '2026-11-01', undefined],
    ['', '2026-11-01', undefined],
    ['Stable', '2026-11-01', undefined],
    ['stable, stable', '2026-11-01', undefined],
    ['latest', '2026-11-01', undefined],
  ];
  for (const [header, today, version] of cases) {
    it(`selects ${String(version)} for ${String(header)} on ${today}`, () => {
      expect(selectVersion(header, releases, today)).to.equal(version);
    });
  }
});

describe('latestVersion', () => {
  it('is the latest release in force, or the first release before that', () => {
    const days = ['2026-09-30', '2026-10-01', '2027-02-28', '2027-03-01'];
    expect(days.map((day) => latestVersion(releases, day))).to.deep.equal([
      '2026-10-01',
      '2026-10-01',
      '2026-10-01',
      '2027-03-01',
    ]);
  });
});

describe('operationsOf', () => {
  const cases: [operation: string, version: string, today: string, reachable: boolean][] = [
    ['listEvents', 'stable', '2020-01-01', true],
    ['listOffers', 'stable', '2027-02-28', false],
    ['listOffers', 'preview', '2027-02-28', true],
    ['listOffers', '2027-03-01', '2027-02-28', true],
    ['listOffers', 'stable', '2027-03-01', true],
    ['listEvents', '2027-03-01', '2027-02-28', true],
    ['getOffer', '2027-03-01', '2027-02-28', false],
    ['getOffer', 'preview', '2027-03-01', true],
  ];
  for (const [operation, version, today, reachable] of cases) {
    it(`${operation} in ${version} on ${today}: ${reachable}`, () => {
      const operations = operationsOf(version, releases, today);
      expect(operations?.has(operation) ?? true).to.equal(reachable);
    });
  }
});

import { expect } from 'chai';
import fc from 'fast-check';
import {
  inUtc,
  isCalendarDate,
  parseTimestamp,
  TIMESTAMP_PATTERNS,
  withOffset,
} from '../../src/contract/timestamp.ts';
import { FIXED } from '../support/random.ts';

const FORM = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|[+-](\d\d:\d\d))$/;

/** Parses a timestamp by Date, which moves a day that does not exist to the next month. */
function parsedByDate(text: string): bigint | undefined {
  const [, date, minute, second = '00', fraction = '', offset = '00:00'] = FORM.exec(text) ?? [];
  const exists = [`${date}T${minute}:${second}.000Z`, `1970-01-01T${offset}:00.000Z`].every((utc) => {
    const moment = Date.parse(utc);
    return !Number.isNaN(moment) && new Date(moment).toISOString() === utc;
  });
  if (!exists) return undefined;
  const milliseconds = Date.parse(text.replace(`.${fraction}`, ''));
  return BigInt(milliseconds) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

describe('Timestamps', () => {
  it('are parsed to microseconds, and truncated beyond them', () => {
    expect(parseTimestamp('1970-01-01T05:45+05:45')).to.equal(0n);
    expect(parseTimestamp('1970-01-01T00:00:00.0000019Z')).to.equal(1n);
    expect(parseTimestamp('1969-12-31T23:59:59.999999Z')).to.equal(-1n);
    expect(parseTimestamp('9999-12-31T23:59:59.999999Z')).to.equal(253_402_300_799_999_999n);
    // A leap day that is another day in UTC.
    expect(parseTimestamp('2000-02-29T23:00-02:00')).to.equal(951_872_400_000_000n);
  });

  for (const text of [
    ...['', '2026-01-31', '2026-01-31T20:00:00', '2026-01-31 20:00:00Z', '2026-01-31t20:00:00z'],
    ...['2026-01-31T20:00:00+0100', '2026-01-31T24:00:00Z', '2026-01-31T20:00:00,5Z', '2026-01-31T20:00.5Z'],
    ...['1900-02-29T20:00:00Z', '2026-W05-6T20:00:00Z', '20260131T200000Z', '+2026-01-31T20:00:00Z'],
    '２026-01-31T20:00:00Z',
  ]) {
    it(`are refused in the form ${JSON.stringify(text)}`, () => {
      expect(parseTimestamp(text)).to.equal(undefined);
    });
  }

  // Numbers around every limit, and any one character replaced, added or dropped.
  const number = (most: number) =>
    fc.integer({ min: 0, max: most + 1 }).map((n) => String(n).padStart(2, '0'));
  const written = fc
    .tuple(
      fc.constantFrom('0000', '1900', '2024', '2026', '9999'),
      number(12),
      number(31),
      number(23),
      number(59),
      fc.option(fc.tuple(number(59), fc.constantFrom('', '.', '.5', '.1234567')), { nil: ['', ''] }),
      fc.oneof(fc.constant('Z'), fc.tuple(fc.constantFrom('+', '-', ' '), number(23), number(59))),
    )
    .map(([year, month, day, hour, minute, [second, fraction], zone]) => {
      const [sign, ...offset] = zone;
      const seconds = second === '' ? '' : `:${second}${fraction}`;
      return `${year}-${month}-${day}T${hour}:${minute}${seconds}${sign}${offset.join(':')}`;
    });
  const damaged = fc
    .tuple(written, fc.nat(30), fc.nat(1), fc.constantFrom('', '0', '-', 'T', 'Z', ' ', '\n', '٣'))
    .map(([text, at, dropped, added]) => text.slice(0, at) + added + text.slice(at + dropped));

  it('are parsed as by Date, and refused where Date moves a part of them to another time', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(written, damaged), (text) => {
        const instant = parsedByDate(text);
        if (instant !== undefined) accepted++;
        expect(parseTimestamp(text), text).to.equal(instant);
      }),
      { ...FIXED, numRuns: 5000 },
    );
    expect(accepted).to.be.within(500, 4500);
  });

  it('are written in UTC with the same instant and fraction', () => {
    expect(inUtc('2026-01-01T00:30:15.1234567+01:00')).to.equal('2025-12-31T23:30:15.1234567Z');
    expect(inUtc('2026-01-01T13:30:00+01:00')).to.equal('2026-01-01T12:30:00Z');
    expect(inUtc('2026-01-01T00:30-05:30')).to.equal('2026-01-01T06:00Z');
    expect(inUtc('2026-01-01T00:30:00Z')).to.equal('2026-01-01T00:30:00Z');
    expect(inUtc('0000-01-01T00:00:00+01:00')).to.equal('0000-01-01T00:00:00+01:00');
  });

  it('are written with an offset in place of Z', () => {
    expect(withOffset('2026-01-01T13:30:15.5Z')).to.equal('2026-01-01T13:30:15.5+00:00');
    expect(withOffset('2026-01-01T13:30-05:30')).to.equal('2026-01-01T13:30-05:30');
  });

  it('match the pattern of their form alone', () => {
    const forms = [TIMESTAMP_PATTERNS.utc, TIMESTAMP_PATTERNS.offset].map((pattern) => new RegExp(pattern));
    const matches = (text: string) => forms.map((form) => form.test(text));
    expect(matches('2026-01-01T13:30:15.5Z')).to.deep.equal([true, false]);
    expect(matches('2026-01-01T13:30-05:30')).to.deep.equal([false, true]);
    expect(matches('2026-01-01T13:30')).to.deep.equal([false, false]);
  });

  it('recognizes a calendar date', () => {
    expect(isCalendarDate('2024-02-29')).to.equal(true);
    for (const text of ['2026-02-30', '2026-2-03', '2026-02-03T', '2026-02-0', '']) {
      expect(isCalendarDate(text), text).to.equal(false);
    }
  });
});

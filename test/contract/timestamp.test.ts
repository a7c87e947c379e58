import { expect } from 'chai';
import fc from 'fast-check';
import { asServed, isCalendarDate, isServedForm, parseTimestamp } from '../../src/contract/timestamp.ts';
import { FIXED } from '../support/random.ts';

const EXTENDED =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/;
const BASIC = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/;

/** Parses a timestamp by Date, which moves a day that does not exist to the next month. */
function parsedByDate(text: string): bigint | undefined {
  const parts = EXTENDED.exec(text) ?? BASIC.exec(text) ?? [];
  const [
    ,
    year,
    month,
    day,
    hour,
    minutes,
    second = '00',
    fraction = '',
    sign = '',
    hours = '00',
    rest = '00',
  ] = parts;
  const [date, minute, offset] = [`${year}-${month}-${day}`, `${hour}:${minutes}`, `${hours}:${rest}`];
  const exists = [`${date}T${minute}:${second}.000Z`, `1970-01-01T${offset}:00.000Z`].every((utc) => {
    const moment = Date.parse(utc);
    return !Number.isNaN(moment) && new Date(moment).toISOString() === utc;
  });
  if (!exists) return undefined;
  const milliseconds = Date.parse(`${date}T${minute}:${second}${sign === '' ? 'Z' : sign + offset}`);
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

  it('have the same instant in each form of the grammar, and are written in that of RFC 3339', () => {
    for (const [text, written] of [
      ['2026-11-26T21:00-05:00', '2026-11-26T21:00:00-05:00'],
      ['20261126T210000Z', '2026-11-26T21:00:00Z'],
      ['20261126T2100+05', '2026-11-26T21:00:00+05:00'],
      ['20261126T210000,25-0530', '2026-11-26T21:00:00.25-05:30'],
      ['2026-11-26T21:00:00,1234567+0100', '2026-11-26T21:00:00.1234567+01:00'],
      ['20240229T235959.9+01:00', '2024-02-29T23:59:59.9+01:00'],
    ]) {
      expect(asServed(text, 'any'), text).to.equal(written);
      expect(asServed(written, 'any')).to.equal(written);
      expect(parseTimestamp(text)).to.equal(parsedByDate(written));
    }
  });

  for (const text of [
    ...['', '2026-01-31', '2026-01-31T20:00:00', '2026-01-31 20:00:00Z', '2026-01-31t20:00:00z'],
    ...['2026-01-31T20:00:00+1', '2026-01-31T24:00:00Z', '2026-01-31T20:00:60Z', '2026-01-31T20:00.5Z'],
    ...['1900-02-29T20:00:00Z', '2026-W05-6T20:00:00Z', '20260131T20:00:00Z', '+2026-01-31T20:00:00Z'],
    ...[
      '2026-01-31T200000Z',
      '2026-0131T200000Z',
      '19000229T200000Z',
      '2026-01-31T20Z',
      '2026-031T20:00:00Z',
    ],
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
      fc.option(fc.tuple(number(59), fc.constantFrom('', '.', '.5', ',1234567')), { nil: ['', ''] }),
      fc.oneof(fc.constant('Z'), fc.tuple(fc.constantFrom('+', '-', ' '), number(23), number(59))),
      fc.constantFrom(['-', ':'], ['', '']),
      fc.constantFrom(':', ''),
    )
    .map(([year, month, day, hour, minute, [second, fraction], zone, [dash, colon], ofOffset]) => {
      const [sign, ...offset] = zone;
      const seconds = second === '' ? '' : `${colon}${second}${fraction}`;
      const [date, time] = [[year, month, day].join(dash), hour + colon + minute + seconds];
      return `${date}T${time}${sign}${offset.join(ofOffset)}`;
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
        const written = asServed(text, 'any');
        expect(written !== undefined && isServedForm(written, 'any')).to.equal(instant !== undefined);
        if (written !== undefined) expect(parsedByDate(written)).to.equal(instant);
      }),
      { ...FIXED, numRuns: 5000 },
    );
    expect(accepted).to.be.within(500, 4500);
  });

  it('are written in UTC with the same instant and fraction', () => {
    expect(asServed('2026-01-01T00:30:15.1234567+01:00', 'utc')).to.equal('2025-12-31T23:30:15.1234567Z');
    expect(asServed('2026-01-01T13:30:00+01:00', 'utc')).to.equal('2026-01-01T12:30:00Z');
    expect(asServed('2026-01-01T00:30:00-05:30', 'utc')).to.equal('2026-01-01T06:00:00Z');
    expect(asServed('2026-01-01T00:30:00Z', 'utc')).to.equal('2026-01-01T00:30:00Z');
    expect(asServed('0000-01-01T00:00:00+01:00', 'utc')).to.equal(undefined);
  });

  it('are written with an offset in place of Z', () => {
    expect(asServed('2026-01-01T13:30:15.5Z', 'offset')).to.equal('2026-01-01T13:30:15.5+00:00');
    expect(asServed('2026-01-01T13:30:00-05:30', 'offset')).to.equal('2026-01-01T13:30:00-05:30');
  });

  it('have the form of their offset alone', () => {
    const formsOf = (text: string) =>
      (['any', 'utc', 'offset'] as const).filter((form) => isServedForm(text, form));
    expect(formsOf('2026-01-01T13:30:15.5Z')).to.deep.equal(['any', 'utc']);
    expect(formsOf('2026-01-01T13:30:00-05:30')).to.deep.equal(['any', 'offset']);
    for (const text of [
      '2026-01-01T13:30Z',
      '20260101T133000Z',
      '2026-01-01T13:30:00-0530',
      '2026-01-01T13:30:00,5Z',
    ])
      expect(formsOf(text), text).to.deep.equal([]);
  });

  it('recognizes a calendar date', () => {
    expect(isCalendarDate('2024-02-29')).to.equal(true);
    for (const text of ['2026-02-30', '2026-2-03', '2026-02-03T', '2026-02-0', '']) {
      expect(isCalendarDate(text), text).to.equal(false);
    }
  });
});

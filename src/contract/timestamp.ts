/**
 * The grammar of timestamps in queries and records. It is `YYYY-MM-DDThh:mm[:ss[.f…]]`, then `Z` or `±hh:mm` (ISO 8601,
 * extended format, calendar date).
 *
 * The available parsers are too lenient. `Date.parse` accepts local times and plain dates. Luxon accepts week dates and
 * truncates to milliseconds. The `date-time` of ajv accepts a space for the `T`.
 */

/** Microseconds since 1970-01-01T00:00:00Z. A bigint because the number passes 2^53 in the year 2255. */
export type Instant = bigint;

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAYS_BEFORE_1970 = 719_528; // from 0000-01-01, proleptic Gregorian calendar

/** Returns the instant of a timestamp, truncated to microseconds; undefined when `text` is malformed. */
export function parseTimestamp(text: string): Instant | undefined {
  const day = parseDate(text);
  if (day === undefined || text[10] !== 'T' || text[13] !== ':') return undefined;
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  let end = 16;
  let second = 0;
  let micros = 0;
  if (text[end] === ':') {
    second = digits(text, 17, 2);
    end = 19;
    if (text[end] === '.') {
      const start = ++end;
      while (isDigit(text.charCodeAt(end))) end++;
      if (end === start) return undefined;
      micros = digits(text.slice(start, Math.min(end, start + 6)).padEnd(6, '0'), 0, 6);
    }
  }
  const offset = parseOffset(text, end);
  if (!(hour <= 23 && minute <= 59 && second <= 59) || offset === undefined) return undefined;
  const seconds = day * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
  return BigInt(seconds) * 1_000_000n + BigInt(micros);
}

/** Converts a valid timestamp to UTC with `Z`. Seconds and fraction stay unchanged. */
export function inUtc(text: string): string {
  const end = text.search(/Z$|[+-]\d\d:\d\d$/);
  const offset = parseOffset(text, end);
  if (offset === undefined || text[end] === 'Z') return text;
  const day = parseDate(text) ?? 0;
  const minutes = day * 1440 + digits(text, 11, 2) * 60 + digits(text, 14, 2) - offset;
  const moved = new Date(minutes * 60_000).toISOString();
  // A year outside 0000-9999 has no four-digit form, so the timestamp stays unchanged.
  return moved.length === 24 ? moved.slice(0, 16) + text.slice(16, end) + 'Z' : text;
}

/** Converts the `Z` of a valid timestamp to an offset. */
export function withOffset(text: string): string {
  return text.replace('Z', '+00:00');
}

/** Returns whether `text` is an existing calendar date, `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  return text.length === 10 && parseDate(text) !== undefined;
}

/** Returns the days from 1970-01-01 to the date that begins `text`; undefined when malformed. */
function parseDate(text: string): number | undefined {
  if (text[4] !== '-' || text[7] !== '-') return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1)) return undefined;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (day > DAYS_IN_MONTH[month - 1] + (leap && month === 2 ? 1 : 0)) return undefined;
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) + 1;
  const inYear = DAYS_BEFORE_MONTH[month - 1] + (leap && month > 2 ? 1 : 0) + day - 1;
  return year * 365 + leapDays + inYear - DAYS_BEFORE_1970;
}

/** Returns the offset from `start` to the end, in minutes east of UTC; undefined when malformed. */
function parseOffset(text: string, start: number): number | undefined {
  const sign = text[start];
  if (sign === 'Z') return text.length === start + 1 ? 0 : undefined;
  if ((sign !== '+' && sign !== '-') || text.length !== start + 6 || text[start + 3] !== ':')
    return undefined;
  const hours = digits(text, start + 1, 2);
  const minutes = digits(text, start + 4, 2);
  if (!(hours <= 23 && minutes <= 59)) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** Returns the number in `length` digits from `start`. For other characters, returns NaN, which fails every comparison. */
function digits(text: string, start: number, length: number): number {
  let value = 0;
  for (let i = start; i < start + length; i++) {
    const code = text.charCodeAt(i);
    if (!isDigit(code)) return NaN;
    value = value * 10 + code - 48;
  }
  return value;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

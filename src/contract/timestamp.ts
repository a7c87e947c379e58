/**
 * The grammar of timestamps in queries and imports, and the form in which they are served.
 *
 * The grammar is ISO 8601: a calendar date, `T`, a time to minutes, seconds or a fraction of them, all in the extended or
 * all in the basic form, then `Z`, `±hh:mm`, `±hhmm` or `±hh`. The served form is that of RFC 3339, which has seconds.
 *
 * The available parsers are too lenient. `Date.parse` accepts local times and plain dates. Luxon accepts week dates and
 * truncates to milliseconds. The `date-time` of ajv accepts a space for the `T`, and that of JSON Schema requires seconds.
 */

// Patterns in the OpenAPI document have no backslash, which some generators double. In some languages, \d matches digits of
// other scripts, too.
const DAY_TO_29 = '0[1-9]|[12][0-9]';
const MINUTES_AND_SECONDS = '[0-5][0-9]';
const HOUR = '([01][0-9]|2[0-3])';
const OFFSET = `[+-]${HOUR}:${MINUTES_AND_SECONDS}`;

function date(separator: '-' | ''): string {
  const inMonths = (months: string, days: string) => `(${months})${separator}(${days})`;
  const [long, short] = [
    inMonths('0[13578]|1[02]', `${DAY_TO_29}|3[01]`),
    inMonths('0[469]|11', `${DAY_TO_29}|30`),
  ];
  return `[0-9]{4}${separator}(${long}|${short}|${inMonths('02', DAY_TO_29)})`;
}

function time(separator: ':' | ''): string {
  const next = separator + MINUTES_AND_SECONDS;
  return `${HOUR}${next}(${next}([.,][0-9]+)?)?`;
}

/** Calendar dates, and 29 February of any year. */
export const DATE_PATTERN = date('-');
const SERVED_TIME = `${HOUR}:${MINUTES_AND_SECONDS}:${MINUTES_AND_SECONDS}([.][0-9]+)?`;
/** By the offset with which timestamps are served. */
export const SERVED_PATTERNS = {
  any: `^${DATE_PATTERN}T${SERVED_TIME}(Z|${OFFSET})$`,
  utc: `^${DATE_PATTERN}T${SERVED_TIME}Z$`,
  offset: `^${DATE_PATTERN}T${SERVED_TIME}${OFFSET}$`,
};
export type ServedForm = keyof typeof SERVED_PATTERNS;

const DATE = new RegExp(`^${DATE_PATTERN}$`);
const TIMESTAMP = new RegExp(
  `^(${DATE_PATTERN}T${time(':')}|${date('')}T${time('')})(Z|[+-]${HOUR}(:?${MINUTES_AND_SECONDS})?)$`,
);
const PARTS = /^(.{4})-?(..)-?(..)T(..):?(..)(?::?(..)(?:[.,]([0-9]+))?)?(Z|[+-]..)(?::?(..))?$/;
const SERVED = {
  any: new RegExp(SERVED_PATTERNS.any),
  utc: new RegExp(SERVED_PATTERNS.utc),
  offset: new RegExp(SERVED_PATTERNS.offset),
};

/** Microseconds since 1970-01-01T00:00:00Z. A bigint because the number passes 2^53 in the year 2255. */
export type Instant = bigint;

/** Returns the instant of a timestamp, truncated to microseconds; undefined when `text` is malformed. */
export function parseTimestamp(text: string): Instant | undefined {
  const written = inRfc3339(text);
  if (written === undefined) return undefined;
  const seconds = Math.floor(Date.parse(written) / 1000);
  return BigInt(seconds) * 1_000_000n + BigInt(microsecondsOf(written));
}

/**
 * Returns a timestamp in the form of RFC 3339; undefined when `text` is malformed. The offset and the digits of a fraction
 * stay unchanged.
 */
export function inRfc3339(text: string): string | undefined {
  if (isServedForm(text, 'any')) return isExistingDay(text) ? text : undefined;
  const parts = TIMESTAMP.test(text) ? PARTS.exec(text) : null;
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone, minutes = '00'] = parts;
  const seconds = fraction === '' ? second : `${second}.${fraction}`;
  const offset = zone === 'Z' ? zone : `${zone}:${minutes}`;
  const written = `${year}-${month}-${day}T${hour}:${minute}:${seconds}${offset}`;
  return isExistingDay(written) ? written : undefined;
}

/** Returns whether a text has the form of a served timestamp. */
export function isServedForm(text: string, form: ServedForm): boolean {
  return SERVED[form].test(text);
}

/** Returns whether `text` is an existing calendar date, `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  return DATE.test(text) && isExistingDay(text);
}

/** Converts a timestamp of RFC 3339 to UTC with `Z`. Seconds and fraction stay unchanged. */
export function inUtc(text: string): string {
  if (text.endsWith('Z')) return text;
  const moved = new Date(text.slice(0, 16) + text.slice(-6)).toISOString();
  // A year outside 0000-9999 has no four-digit form, so the timestamp stays unchanged.
  return moved.length === 24 ? moved.slice(0, 16) + text.slice(16, -6) + 'Z' : text;
}

/** Converts the `Z` of a timestamp of RFC 3339 to an offset. */
export function withOffset(text: string): string {
  return text.replace('Z', '+00:00');
}

/** Returns whether the day that begins a text of the pattern exists: 29 February only in leap years. */
function isExistingDay(text: string): boolean {
  // Date.parse takes 29 February of another year for 1 March.
  return !text.startsWith('-02-29', 4) || new Date(text.slice(0, 10)).getUTCDate() === 29;
}

function microsecondsOf(text: string): number {
  if (text[19] !== '.') return 0;
  const [fraction] = text.slice(20, 26).split(/[^0-9]/, 1);
  return Number(fraction.padEnd(6, '0'));
}

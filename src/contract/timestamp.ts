/**
 * The grammar of timestamps in queries and records. It is `YYYY-MM-DDThh:mm[:ss[.f…]]`, then `Z` or `±hh:mm` (ISO 8601,
 * extended format, calendar date).
 *
 * The available parsers are too lenient. `Date.parse` accepts local times and plain dates. Luxon accepts week dates and
 * truncates to milliseconds. The `date-time` of ajv accepts a space for the `T`, and that of JSON Schema requires seconds.
 */

// The patterns avoid \d: in some languages, it matches digits of other scripts, too.
const DAY_TO_29 = '0[1-9]|[12][0-9]';
const MONTH_AND_DAY = `((0[13578]|1[02])-(${DAY_TO_29}|3[01])|(0[469]|11)-(${DAY_TO_29}|30)|02-(${DAY_TO_29}))`;
const MINUTES = '([01][0-9]|2[0-3]):[0-5][0-9]';
const TIME = `${MINUTES}(:[0-5][0-9](\\.[0-9]+)?)?`;
const OFFSET = `[+-]${MINUTES}`;

/** Calendar dates, and 29 February of any year. */
export const DATE_PATTERN = `[0-9]{4}-${MONTH_AND_DAY}`;
export const TIMESTAMP_PATTERN = `^${DATE_PATTERN}T${TIME}(Z|${OFFSET})$`;
/** By the form in which timestamps are served. */
export const TIMESTAMP_PATTERNS = {
  imported: TIMESTAMP_PATTERN,
  utc: `^${DATE_PATTERN}T${TIME}Z$`,
  offset: `^${DATE_PATTERN}T${TIME}${OFFSET}$`,
};

const DATE = new RegExp(`^${DATE_PATTERN}$`);
const TIMESTAMP = new RegExp(TIMESTAMP_PATTERN);

/** Microseconds since 1970-01-01T00:00:00Z. A bigint because the number passes 2^53 in the year 2255. */
export type Instant = bigint;

/** Returns the instant of a timestamp, truncated to microseconds; undefined when `text` is malformed. */
export function parseTimestamp(text: string): Instant | undefined {
  if (!TIMESTAMP.test(text) || !isExistingDay(text)) return undefined;
  const seconds = Math.floor(Date.parse(text) / 1000);
  return BigInt(seconds) * 1_000_000n + BigInt(microsecondsOf(text));
}

/** Returns whether `text` is an existing calendar date, `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  return DATE.test(text) && isExistingDay(text);
}

/** Converts a valid timestamp to UTC with `Z`. Seconds and fraction stay unchanged. */
export function inUtc(text: string): string {
  if (text.endsWith('Z')) return text;
  const moved = new Date(text.slice(0, 16) + text.slice(-6)).toISOString();
  // A year outside 0000-9999 has no four-digit form, so the timestamp stays unchanged.
  return moved.length === 24 ? moved.slice(0, 16) + text.slice(16, -6) + 'Z' : text;
}

/** Converts the `Z` of a valid timestamp to an offset. */
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

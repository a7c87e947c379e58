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
const SIXTY = '[0-5][0-9]';
const HOUR = '([01][0-9]|2[0-3])';
const MONTH = '(0[1-9]|1[0-2])';
const DAY = '(0[1-9]|[12][0-9]|3[01])';

/** Each month has up to 31 days here. */
export const DATE_PATTERN = `[0-9]{4}-${MONTH}-${DAY}`;
const SERVED = `^${DATE_PATTERN}T${HOUR}:${SIXTY}:${SIXTY}([.][0-9]+)?`;
/** By the offset with which timestamps are served. */
export const SERVED_PATTERNS = {
  any: `${SERVED}(Z|[+-]${HOUR}:${SIXTY})$`,
  utc: `${SERVED}Z$`,
  offset: `${SERVED}[+-]${HOUR}:${SIXTY}$`,
};
export type ServedForm = keyof typeof SERVED_PATTERNS;

const EXTENDED = `${DATE_PATTERN}T${HOUR}:${SIXTY}(:${SIXTY}([.,][0-9]+)?)?`;
const BASIC = `[0-9]{4}${MONTH}${DAY}T${HOUR}${SIXTY}(${SIXTY}([.,][0-9]+)?)?`;
const TIMESTAMP = new RegExp(`^(${EXTENDED}|${BASIC})(Z|[+-]${HOUR}(:?${SIXTY})?)$`);
const SERVED_FORM = new RegExp(SERVED_PATTERNS.any);
const PARTS = /^(.{4})-?(..)-?(..)T(..):?(..)(?::?(..)(?:[.,]([0-9]+))?)?(Z|[+-]..)(?::?(..))?$/;

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
 * Returns a timestamp in the form of RFC 3339 in which it is served; undefined when `text` is malformed, or outside of the
 * years 0000 to 9999 in UTC. The digits of a fraction stay unchanged.
 */
export function asServed(text: string, form: ServedForm): string | undefined {
  const written = inRfc3339(text);
  if (written === undefined || isServedForm(written, form)) return written;
  if (form === 'offset') return written.replace('Z', '+00:00');
  const moved = new Date(written.slice(0, 16) + written.slice(-6)).toISOString();
  return moved.length === 24 ? moved.slice(0, 16) + written.slice(16, -6) + 'Z' : undefined;
}

function inRfc3339(text: string): string | undefined {
  if (isServedForm(text, 'any')) return text;
  const parts = TIMESTAMP.test(text) ? PARTS.exec(text) : null;
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone, minutes = '00'] = parts;
  const seconds = fraction === '' ? second : `${second}.${fraction}`;
  const offset = zone === 'Z' ? zone : `${zone}:${minutes}`;
  const written = `${year}-${month}-${day}T${hour}:${minute}:${seconds}${offset}`;
  return isServedForm(written, 'any') ? written : undefined;
}

/** Returns whether a text has the form of a served timestamp. */
export function isServedForm(text: string, form: ServedForm): boolean {
  return (
    SERVED_FORM.test(text) &&
    isExistingDay(text) &&
    (form === 'any' || text.endsWith('Z') === (form === 'utc'))
  );
}

/** Returns whether `text` is an existing calendar date, `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  return isServedForm(`${text}T00:00:00Z`, 'utc');
}

/** Returns whether the day that begins a text of the pattern exists. */
function isExistingDay(text: string): boolean {
  // Date.parse takes 31 April for 1 May.
  const day = text.slice(8, 10);
  return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === Number(day);
}

function microsecondsOf(text: string): number {
  if (text[19] !== '.') return 0;
  const [fraction] = text.slice(20, 26).split(/[^0-9]/, 1);
  return Number(fraction.padEnd(6, '0'));
}

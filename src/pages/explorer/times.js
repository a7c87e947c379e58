/**
 * Timestamps of records and of filters. A record's timestamp has an offset, and is shown in it: `20:00` at the venue is
 * `20:00` on the screen.
 */

/** Date, time to minutes, seconds or milliseconds, as a field can show it, and the offset. */
const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const FINER_THAN_FIELDS = /\.\d{4}/;

const DATE_TIME = inUtc({ dateStyle: 'medium', timeStyle: 'short' });
const DAY_AND_TIME = inUtc({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const PRECISE = inUtc({ dateStyle: 'medium', timeStyle: 'medium' });
const DATE = inUtc({ dateStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const SECONDS = /** @type {const} */ ([
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]);

/** @param {Intl.DateTimeFormatOptions} options */
function inUtc(options) {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
}

/** @param {string} text */
export function isTimestamp(text) {
  return TIMESTAMP.test(text);
}

/**
 * Splits a timestamp into its date and time, and its offset. Returns undefined for other texts, and for times finer than
 * a field can show.
 * @param {string} text
 */
export function partsOfTimestamp(text) {
  const match = TIMESTAMP.exec(text);
  if (match === null || FINER_THAN_FIELDS.test(text)) return undefined;
  return { wall: match[1], offset: match[2] };
}

/**
 * Returns the timestamp of a wall time in a zone.
 * @param {string} wall date and time: `2026-11-24T20:00`
 * @param {string} zone offset, `Z`, or name of a time zone
 */
export function timestampOf(wall, zone) {
  if (/^(?:Z|[+-]\d\d:\d\d)$/.test(zone)) return wall + zone;
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return wall;
  // The first offset may be that of the other side of a clock change.
  const near = asUtc - millisecondsOf(offsetAt(asUtc, zone));
  return wall + offsetAt(near, zone);
}

/**
 * Returns the offset of a zone at an instant: `+02:00`.
 * @param {number} instant milliseconds since the epoch
 * @param {string} timeZone
 */
function offsetAt(instant, timeZone) {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(
    instant,
  );
  const text = parts
    .find(({ type }) => type === 'timeZoneName')
    ?.value.slice('GMT'.length, 'GMT+00:00'.length);
  return text === undefined || text === '' ? '+00:00' : text;
}

/** @param {string} offset */
function millisecondsOf(offset) {
  const [hours, minutes] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/**
 * Returns the wall time of a timestamp as an instant of UTC, and its offset with a typographic minus.
 * @param {string} timestamp
 */
function written(timestamp) {
  const [, wall = '', offset = ''] = TIMESTAMP.exec(timestamp) ?? [];
  return { wall: new Date(`${wall}Z`), offset: offset === 'Z' ? 'UTC' : `UTC${offset.replace('-', '−')}` };
}

/**
 * Formats a timestamp in its own offset: `24 Nov 2026, 20:00`.
 * @param {string} timestamp
 */
export function formatWritten(timestamp) {
  return DATE_TIME.format(written(timestamp).wall);
}

/**
 * Formats a timestamp in its own offset with its weekday: `Tue 24 Nov 2026, 20:00`.
 * @param {string} timestamp
 */
export function formatSession(timestamp) {
  return DAY_AND_TIME.format(written(timestamp).wall);
}

/**
 * Formats a timestamp to the second with its offset: `24 Nov 2026, 20:00:00 UTC−05:00`.
 * @param {string} timestamp
 */
export function formatPrecisely(timestamp) {
  const { wall, offset } = written(timestamp);
  return `${PRECISE.format(wall)} ${offset}`;
}

/**
 * Returns the texts of a calendar leaf.
 * @param {string} timestamp
 */
export function calendarLeaf(timestamp) {
  const [day, month, year] = DATE.format(written(timestamp).wall).split(' ');
  return { day, month, year };
}

/**
 * Returns the offset of a timestamp: `UTC−05:00`.
 * @param {string} timestamp
 */
export function formatOffset(timestamp) {
  return written(timestamp).offset;
}

/**
 * Formats the distance of an instant: `in 3 days`, `2 hours ago`.
 * @param {string} timestamp
 */
export function formatDistance(timestamp, now = Date.now()) {
  const seconds = (Date.parse(timestamp) - now) / 1000;
  const [unit, size] = SECONDS.find(([, each]) => Math.abs(seconds) >= each) ?? ['minute', 60];
  return RELATIVE.format(Math.round(seconds / size), unit);
}

/**
 * Returns the names of time zones to offer in forms: those given, that of the browser, and UTC.
 * @param {readonly string[]} given
 */
export function offeredZones(given) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [...new Set([...given, own, 'UTC'])];
}

/**
 * Returns a time zone of an event, or UTC if there is none or the browser does not know it.
 * @param {string | null} timeZone
 */
export function zoneOrUtc(timeZone) {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timeZone ?? 'UTC' }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

/**
 * Returns a function from timestamps to days in a time zone: `2026-11-24`.
 * @param {string} timeZone
 */
export function dayIn(timeZone) {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (/** @type {string} */ timestamp) => {
    // Their order and the marks between them depend on the version of the locale data.
    const parts = new Map(format.formatToParts(new Date(timestamp)).map(({ type, value }) => [type, value]));
    const day = [parts.get('year'), parts.get('month'), parts.get('day')].join('-');
    return day.padStart('YYYY-MM-DD'.length, '0');
  };
}

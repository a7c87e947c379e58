/** Texts of numbers, sizes, durations and times, in English and in the time zone of the browser. */

const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, useGrouping: true });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Seconds of each unit of a duration, largest first. */
const UNITS = /** @type {const} */ ([
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
]);

/**
 * Formats a whole number with separators: `12,345`.
 * @param {number} count
 */
export function formatCount(count) {
  return COUNT.format(count);
}

/**
 * Formats a number with three significant digits: `0.125`, `12.3`, `1,230`.
 * @param {number} value
 */
export function formatNumber(value) {
  return Math.abs(value) >= 1000 ? COUNT.format(value) : SHORT.format(value);
}

/**
 * Formats a size in units of 1024 bytes, as MEMORY_LIMIT_MB counts: `1.5 MB`.
 * @param {number} bytes
 */
export function formatBytes(bytes) {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${formatNumber(value)} ${BYTE_UNITS[unit]}`;
}

/**
 * Formats a duration by its two largest units, or below a second in milliseconds: `2 h 5 min`, `12 s`, `0.25 ms`.
 * @param {number} seconds
 */
export function formatDuration(seconds) {
  if (seconds === 0) return '0 s';
  if (seconds < 1) return `${formatNumber(seconds * 1000)} ms`;
  if (seconds < 10) return `${formatNumber(seconds)} s`;
  let rest = Math.floor(seconds);
  const largest = UNITS.findIndex(([, size]) => rest >= size);
  const parts = [];
  for (const [unit, size] of UNITS.slice(largest, largest + 2)) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) parts.push(`${amount} ${unit}`);
  }
  return parts.join(' ');
}

/**
 * Formats a date and time in local time: `21 Nov 2026, 18:05:09`.
 * @param {string | number | Date} instant
 */
export function formatDateTime(instant) {
  return DATE_TIME.format(new Date(instant));
}

/**
 * Formats a time of the day in local time: `18:05:09`.
 * @param {string | number | Date} instant
 */
export function formatTime(instant) {
  return TIME.format(new Date(instant));
}

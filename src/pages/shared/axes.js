/** The axes of a chart. */

export const FONT_PX = 12;
/** Room for a label of the axis of times, the longest of which are `Sept 2026` and `16 Sept`. */
export const TIME_LABEL_PX = 76;

const DAY_SECONDS = 86_400;

/** Formats of the axis of times by the least step between its labels, in seconds. */
const TIME_FORMATS = /** @type {const} */ ([
  [28 * DAY_SECONDS, new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' })],
  [DAY_SECONDS, new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })],
  [60, new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })],
  [0, new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })],
]);

/**
 * Returns the span of the axis of times. It ends with the last one, which a single one does too: uPlot itself would
 * show the day after it.
 * @param {ArrayLike<number>} times seconds since the epoch, ascending
 * @param {number} minSeconds
 * @returns {[from: number, until: number]}
 */
export function timeRange(times, minSeconds) {
  if (times.length === 0) return [0, Math.max(1, minSeconds)];
  const last = times[times.length - 1];
  return [Math.min(times[0], last - minSeconds), last];
}

/**
 * Returns the label of a time on an axis, in local time.
 * @param {number} time seconds since the epoch
 * @param {number} step seconds between labels
 */
export function timeLabel(time, step) {
  return TIME_FORMATS.find(([least]) => step >= least)?.[1].format(time * 1000) ?? '';
}

/**
 * Returns the powers of ten from one to another.
 * @param {number} lowest
 * @param {number} highest
 */
export function powersOfTen(lowest, highest) {
  const first = Math.round(Math.log10(lowest));
  const length = Math.round(Math.log10(highest)) - first + 1;
  return Array.from({ length }, (_, i) => 10 ** (first + i));
}

/**
 * Returns the width of an axis that has these labels, in CSS pixels. The first time has room below it.
 * @param {string[] | null} labels
 */
export function widthOf(labels) {
  const longest = Math.max(0, ...(labels ?? []).map((label) => label.length));
  return Math.max(TIME_LABEL_PX / 2, 16 + longest * FONT_PX * 0.6);
}

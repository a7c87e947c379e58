import { formatDuration, formatNumber, formatTime } from '../shared/format.js';

/** Figures of the last hour, from the intervals of `/history`. */

/** @import { Interval } from './responses.js' */

/**
 * @param {number} value events per second
 */
export function formatRate(value) {
  return `${formatNumber(value)}/s`;
}

/**
 * Returns the data of the charts: the ends of the intervals, and the values of each series.
 * @param {readonly Interval[]} intervals
 */
export function chartData(intervals) {
  const times = intervals.map(({ until }) => until);
  /** @param {(one: Interval) => number} countOf */
  const rates = (countOf) => intervals.map((one) => countOf(one) / one.seconds);
  /** @param {'p50' | 'p95' | 'p99'} name */
  const percentiles = (name) => intervals.map((one) => one[name]);
  return {
    requests: /** @type {const} */ ([times, rates(({ requests }) => requests)]),
    durations: /** @type {const} */ ([times, percentiles('p50'), percentiles('p95'), percentiles('p99')]),
    errors: /** @type {const} */ ([
      times,
      rates(({ clientErrors }) => clientErrors),
      rates(({ tooManyRequests }) => tooManyRequests),
      rates(({ serverErrors }) => serverErrors),
    ]),
  };
}

/** @param {readonly Interval[]} intervals */
export function totalsOf(intervals) {
  /** @param {(one: Interval) => number} countOf */
  const sum = (countOf) => intervals.reduce((total, one) => total + countOf(one), 0);
  return {
    requests: sum(({ requests }) => requests),
    clientErrors: sum(({ clientErrors }) => clientErrors),
    tooManyRequests: sum(({ tooManyRequests }) => tooManyRequests),
    serverErrors: sum(({ serverErrors }) => serverErrors),
  };
}

/**
 * Returns the intervals of each minute in one, latest first. A percentile is the highest of the minute.
 * @param {readonly Interval[]} intervals
 * @returns {Interval[]}
 */
export function minutesOf(intervals) {
  const minutes = Map.groupBy(intervals, ({ until }) => Math.ceil(until / 60));
  return Array.from(minutes, ([minute, within]) => {
    /** @param {'p50' | 'p95' | 'p99'} name */
    const highest = (name) => {
      const values = within.flatMap((one) => one[name] ?? []);
      return values.length === 0 ? null : Math.max(...values);
    };
    return {
      until: minute * 60,
      seconds: within.reduce((total, one) => total + one.seconds, 0),
      ...totalsOf(within),
      p50: highest('p50'),
      p95: highest('p95'),
      p99: highest('p99'),
    };
  }).reverse();
}

/**
 * Describes a chart in a sentence: its highest value, with the time.
 * @param {readonly Interval[]} intervals
 * @param {(one: Interval) => number | null} valueOf
 * @param {(value: number) => string} format
 */
export function peakText(intervals, valueOf, format) {
  let peak = { value: 0, until: 0 };
  for (const one of intervals) {
    const value = valueOf(one) ?? 0;
    if (value > peak.value) peak = { value, until: one.until };
  }
  return peak.value === 0 ? 'none' : `${format(peak.value)} at ${formatTime(peak.until * 1000)}`;
}

/**
 * @param {number | null} seconds
 */
export function formatPercentile(seconds) {
  return seconds === null ? '–' : formatDuration(seconds);
}

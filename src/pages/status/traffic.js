import { html, nothing } from 'lit-html';
import { formatCount, formatDuration, formatNumber, formatTime } from '../shared/format.js';
import { scrollingTable } from '../shared/table.js';

/** @import { Column } from '../shared/table.js' */
/** @import { ChartData, ChartOptions, ChartSeries } from '../shared/time-chart.js' */
/** @import { Interval } from './types.d.ts' */

/**
 * Requests, durations and errors of the last hour: charts, a sentence for each, and a table.
 *
 * @typedef {(interval: Interval) => number | null} Figure
 *
 * @typedef {object} Chart
 * @property {string} id
 * @property {string} title
 * @property {(intervals: readonly Interval[]) => string} describe
 * @property {ChartOptions} options
 * @property {readonly Figure[]} figures of each series
 */

/** The axis spans the hour also while the history is shorter. */
const SHARED_OPTIONS = { group: 'traffic', minSeconds: 3600 };
/** Series from the harmless to the serious. @type {readonly Omit<ChartSeries, 'label'>[]} */
const GRADES = [
  { color: '--accent' },
  { color: '--warn', line: 'dashed' },
  { color: '--bad', line: 'dotted' },
];

/** @type {readonly Chart[]} */
export const CHARTS = [
  {
    id: 'chart-requests',
    title: 'Requests',
    describe: (intervals) =>
      `${formatCount(totalsOf(intervals).requests)} in all; highest: ${peakText(intervals, rateOf('requests'), formatRate)}`,
    options: {
      ...SHARED_OPTIONS,
      series: [{ label: 'requests a second', color: '--accent', isFilled: true }],
      format: formatRate,
    },
    figures: [rateOf('requests')],
  },
  {
    id: 'chart-durations',
    title: 'Time to respond',
    describe: (intervals) =>
      `Logarithmic scale, estimated within buckets. Highest p99: ${peakText(intervals, ({ p99 }) => p99, formatDuration)}`,
    options: {
      ...SHARED_OPTIONS,
      series: graded('p50', 'p95', 'p99'),
      format: formatDuration,
      isLogarithmic: true,
    },
    figures: [({ p50 }) => p50, ({ p95 }) => p95, ({ p99 }) => p99],
  },
  {
    id: 'chart-errors',
    title: 'Errors',
    describe: (intervals) => {
      const { clientErrors, tooManyRequests, serverErrors } = totalsOf(intervals);
      return `In all: other 4xx: ${formatCount(clientErrors)}, 429: ${formatCount(tooManyRequests)}, 5xx: ${formatCount(serverErrors)}`;
    },
    options: { ...SHARED_OPTIONS, series: graded('other 4xx', '429', '5xx'), format: formatRate },
    figures: [rateOf('clientErrors'), rateOf('tooManyRequests'), rateOf('serverErrors')],
  },
];

/** @type {readonly Column<Interval>[]} */
const COLUMNS = [
  ['Until', ({ until }) => formatTime(until * 1000), 'header'],
  ['Requests', ({ requests, seconds }) => formatRate(requests / seconds), 'number'],
  ['p50', ({ p50 }) => formatPercentile(p50), 'number'],
  ['p95', ({ p95 }) => formatPercentile(p95), 'number'],
  ['p99', ({ p99 }) => formatPercentile(p99), 'number'],
  ['Other 4xx', ({ clientErrors }) => formatCount(clientErrors), 'number'],
  ['429', ({ tooManyRequests }) => formatCount(tooManyRequests), 'number'],
  ['5xx', ({ serverErrors }) => formatCount(serverErrors), 'number'],
];

/** @param {readonly string[]} labels */
function graded(...labels) {
  return GRADES.map((style, i) => ({ label: labels[i], ...style }));
}

/**
 * @param {'requests' | 'clientErrors' | 'tooManyRequests' | 'serverErrors'} name
 * @returns {(interval: Interval) => number} events per second
 */
function rateOf(name) {
  return (interval) => interval[name] / interval.seconds;
}

/** @param {readonly Interval[]} intervals */
export function trafficSection(intervals) {
  const isEmpty = totalsOf(intervals).requests === 0;
  return html`<section aria-labelledby="traffic">
    <h2 id="traffic">Requests in the last hour</h2>
    ${isEmpty ? html`<p class="empty">${whyEmpty(intervals)}</p>` : nothing}
    <div class="charts" ?hidden=${isEmpty}>
      ${CHARTS.map(
        (chart) =>
          html`<figure class="chart">
            <h3>${chart.title}</h3>
            <time-chart
              id=${chart.id}
              .options=${chart.options}
              .data=${dataOf(chart, intervals)}
            ></time-chart>
            <figcaption class="note">${chart.describe(intervals)}</figcaption>
          </figure>`,
      )}
    </div>
    ${
      isEmpty
        ? nothing
        : html`<details>
            <summary>The same as a table</summary>
            <p class="note">By minute, the latest first. A percentile is the highest of the minute.</p>
            ${scrollingTable('Table of requests', COLUMNS, minutesOf(intervals))}
          </details>`
    }
  </section>`;
}

/** @param {readonly Interval[]} intervals */
function whyEmpty({ length }) {
  if (length === 0) return 'The first figures appear 10 seconds after the start.';
  return 'No request arrived. Check that clients reach the API port, and its log.';
}

/**
 * Returns the ends of the intervals, and the values of each series.
 * @param {Chart} chart
 * @param {readonly Interval[]} intervals
 * @returns {ChartData}
 */
export function dataOf({ figures }, intervals) {
  return [intervals.map(({ until }) => until), ...figures.map((figure) => intervals.map(figure))];
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
 * Merges the intervals of each minute, latest first. A percentile is the highest of the minute.
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
 * Describes a chart by its highest value, with the time.
 * @param {readonly Interval[]} intervals
 * @param {Figure} figure
 * @param {(value: number) => string} format
 */
export function peakText(intervals, figure, format) {
  let peak = { value: 0, until: 0 };
  for (const one of intervals) {
    const value = figure(one) ?? 0;
    if (value > peak.value) peak = { value, until: one.until };
  }
  return peak.value === 0 ? 'none' : `${format(peak.value)} at ${formatTime(peak.until * 1000)}`;
}

/** @param {number} value events per second */
export function formatRate(value) {
  return `${formatNumber(value)}/s`;
}

/** @param {number | null} seconds */
export function formatPercentile(seconds) {
  return seconds === null ? '–' : formatDuration(seconds);
}

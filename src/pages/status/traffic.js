import { html, nothing } from 'lit-html';
import { TimeChart } from '../shared/charts.js';
import { formatCount, formatDuration, formatTime } from '../shared/format.js';
import { chartData, formatPercentile, formatRate, minutesOf, peakText, totalsOf } from './intervals.js';

/** Requests, durations and errors of the last hour: charts, a sentence for each, and a table. */

/**
 * @import { ChartOptions } from '../shared/charts.js'
 * @import { Interval } from './responses.js'
 */

/** The axis spans the hour also while the history is shorter. */
const MIN_SECONDS = 3600;

/** @type {Readonly<Record<keyof ReturnType<typeof chartData>, ChartOptions>>} */
const CHARTS = {
  requests: {
    series: [{ label: 'requests a second', color: '--accent', isFilled: true }],
    format: formatRate,
  },
  durations: {
    series: [
      { label: 'p50', color: '--accent' },
      { label: 'p95', color: '--warn', line: 'dashed' },
      { label: 'p99', color: '--bad', line: 'dotted' },
    ],
    format: formatDuration,
    isLogarithmic: true,
  },
  errors: {
    series: [
      { label: 'other 4xx', color: '--accent' },
      { label: '429', color: '--warn', line: 'dashed' },
      { label: '5xx', color: '--bad', line: 'dotted' },
    ],
    format: formatRate,
  },
};

const CHART_NAMES = /** @type {readonly (keyof typeof CHARTS)[]} */ (Object.keys(CHARTS));

/** The charts of the page. They are drawn into elements of `trafficSection`. */
export class TrafficCharts {
  /** @type {Map<keyof typeof CHARTS, TimeChart>} */
  #charts = new Map();

  /** @param {readonly Interval[]} intervals */
  show(intervals) {
    const data = chartData(intervals);
    for (const name of CHART_NAMES) {
      const element = document.getElementById(`chart-${name}`);
      if (element === null) continue;
      let chart = this.#charts.get(name);
      if (chart === undefined) {
        chart = new TimeChart(element, { ...CHARTS[name], group: 'traffic', minSeconds: MIN_SECONDS });
        this.#charts.set(name, chart);
      }
      chart.setData(data[name]);
    }
  }
}

/** @param {readonly Interval[]} intervals */
export function trafficSection(intervals) {
  const { requests, clientErrors, tooManyRequests, serverErrors } = totalsOf(intervals);
  const isEmpty = requests === 0;
  return html`<section aria-labelledby="traffic">
    <h2 id="traffic">Requests in the last hour</h2>
    ${
      isEmpty
        ? html`<p class="empty">
            ${
              intervals.length === 0
                ? 'The first figures appear 10 seconds after the start.'
                : 'No request arrived. Check that clients reach the API port, and its log.'
            }
          </p>`
        : nothing
    }
    <div class="charts" ?hidden=${isEmpty}>
      ${chart(
        'requests',
        'Requests',
        `${formatCount(requests)} in all; highest: ${peakText(intervals, (one) => one.requests / one.seconds, formatRate)}`,
      )}
      ${chart(
        'durations',
        'Time to respond',
        `Logarithmic scale, estimated within buckets. Highest p99: ${peakText(intervals, ({ p99 }) => p99, formatDuration)}`,
      )}
      ${chart(
        'errors',
        'Errors',
        `In all: other 4xx: ${formatCount(clientErrors)}, 429: ${formatCount(tooManyRequests)}, 5xx: ${formatCount(serverErrors)}`,
      )}
    </div>
    ${isEmpty ? nothing : table(minutesOf(intervals))}
  </section>`;
}

/**
 * @param {keyof typeof CHARTS} name
 * @param {string} title
 * @param {string} description
 */
function chart(name, title, description) {
  return html`<figure class="chart">
    <h3>${title}</h3>
    <div id="chart-${name}"></div>
    <figcaption class="note">${description}</figcaption>
  </figure>`;
}

/** @param {readonly Interval[]} minutes */
function table(minutes) {
  return html`<details>
    <summary>The same as a table</summary>
    <div class="scroll tall" tabindex="0" role="region" aria-label="Table of requests">
      <table>
        <caption class="note">
          By minute, the latest first. A percentile is the highest of the minute.
        </caption>
        <thead>
          <tr>
            <th>Until</th>
            <th class="number">Requests</th>
            <th class="number">p50</th>
            <th class="number">p95</th>
            <th class="number">p99</th>
            <th class="number">Other 4xx</th>
            <th class="number">429</th>
            <th class="number">5xx</th>
          </tr>
        </thead>
        <tbody>
          ${minutes.map(
            (one) =>
              html`<tr>
                <th scope="row">${formatTime(one.until * 1000)}</th>
                <td class="number">${formatRate(one.requests / one.seconds)}</td>
                <td class="number">${formatPercentile(one.p50)}</td>
                <td class="number">${formatPercentile(one.p95)}</td>
                <td class="number">${formatPercentile(one.p99)}</td>
                <td class="number">${formatCount(one.clientErrors)}</td>
                <td class="number">${formatCount(one.tooManyRequests)}</td>
                <td class="number">${formatCount(one.serverErrors)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

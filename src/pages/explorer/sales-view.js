import { html } from 'lit-html';
import { formatCount } from '../shared/format.js';
import { isLongTime } from './sales.js';
import { skeleton } from './states.js';
import './time-chart.js';
import { formatMoney } from './values.js';
import { walkState } from './walk-state.js';

/** @import { ChartOptions } from '../shared/charts.js' */
/** @import { SalesDay, SalesTally } from './sales.js' */
/** @import { Walk } from './walks.js' */

/** How sales are counted in the chart. */
/** @typedef {'total' | 'issued'} Measure */

/** @type {Readonly<Record<Measure, { name: string, options: ChartOptions }>>} */
const CHARTS = {
  total: {
    name: 'Cumulative',
    options: {
      series: [{ label: 'Tickets issued', color: '--accent', isFilled: true }],
      format: formatCount,
      height: 200,
    },
  },
  issued: {
    name: 'Per day',
    options: {
      series: [{ label: 'Tickets issued that day', color: '--accent', isFilled: true }],
      format: formatCount,
      height: 200,
    },
  },
};

/**
 * Shows how the tickets of an event sold.
 * @param {Walk<SalesTally>} walk
 * @param {Measure} measure
 * @param {(measure: Measure) => void} select
 */
export function salesView(walk, measure, select) {
  const { tally, state } = walk;
  const days = tally.days();
  return html`<section class="panel" aria-labelledby="sales">
    <div class="panel-header">
      <h2 id="sales">Sales</h2>
      <div class="switch" role="group" aria-label="Count of tickets">
        ${measures().map(
          (each) =>
            html`<button
              type="button"
              aria-pressed=${each === measure}
              @click=${() => {
                select(each);
              }}
            >
              ${CHARTS[each].name}
            </button>`,
        )}
      </div>
    </div>
    ${walkState(walk)}
    ${
      days.length === 0
        ? state === 'ready'
          ? html`<p class="quiet">No ticket has been issued yet.</p>`
          : skeleton(3)
        : html`${figures(tally)} ${chart(days, measure)} ${dayTable(days)}`
    }
  </section>`;
}

/**
 * @param {readonly SalesDay[]} days
 * @param {Measure} measure
 */
function chart(days, measure) {
  if (isLongTime(days[0].day, days[days.length - 1].day))
    return html`<p class="quiet">The first and the last day are too far apart for a chart.</p>`;
  return html`<time-chart
    aria-hidden="true"
    .options=${CHARTS[measure].options}
    .data=${chartData(days, measure)}
  ></time-chart>`;
}

/** @returns {readonly Measure[]} */
function measures() {
  return ['total', 'issued'];
}

/** @param {SalesTally} tally */
function figures({ issued, cancelled, paid }) {
  const amounts = [...paid].map(([currency, amount]) => formatMoney(amount, currency));
  return html`<dl class="figures-row">
    <div>
      <dt>Tickets issued</dt>
      <dd>${formatCount(issued)}</dd>
    </div>
    <div>
      <dt>Of them cancelled</dt>
      <dd>${formatCount(cancelled)}</dd>
    </div>
    <div>
      <dt>Paid, without cancelled</dt>
      <dd>${amounts.length === 0 ? '–' : amounts.join(' + ')}</dd>
    </div>
  </dl>`;
}

/**
 * Returns the data of the chart. It begins with zero on the day before the first sale.
 * @param {readonly SalesDay[]} days
 * @param {Measure} measure
 * @returns {[number[], number[]]}
 */
function chartData(days, measure) {
  const times = days.map(({ day }) => secondsOf(day));
  return [
    [secondsOf(days[0].day, -1), ...times],
    [0, ...days.map((day) => day[measure])],
  ];
}

/**
 * Returns a day's start in the time zone of the browser, in which the axis is labelled.
 * @param {string} day
 */
function secondsOf(day, offset = 0) {
  const [year, month, date] = day.split('-').map(Number);
  return new Date(year, month - 1, date + offset).getTime() / 1000;
}

/** @param {readonly SalesDay[]} days */
function dayTable(days) {
  const sold = days.filter(({ issued }) => issued > 0);
  return html`<details class="as-table">
    <summary>Sales as a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Sales by day">
      <table class="records">
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="number">Issued</th>
            <th scope="col" class="number">In total</th>
          </tr>
        </thead>
        <tbody>
          ${sold.map(
            ({ day, issued, total }) =>
              html`<tr>
                <td data-label="Day">${day}</td>
                <td data-label="Issued" class="number">${formatCount(issued)}</td>
                <td data-label="In total" class="number">${formatCount(total)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

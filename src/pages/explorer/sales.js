import { html } from 'lit-html';
import { formatCount } from '../shared/format.js';
import { scrollingTable } from '../shared/table.js';
import { progressOf, skeleton } from './states.js';
import { dayIn } from './times.js';
import { formatMoney } from './values.js';

/** @import { Reading } from './api.js' */
/** @import { Ticket } from './types.d.ts' */

/**
 * The sales of an event over time, counted from its tickets.
 *
 * @typedef {object} SalesDay
 * @property {string} day `2026-11-24`, at the venue
 * @property {number} issued tickets issued on the day
 * @property {number} total tickets issued up to its end
 *
 * @typedef {'total' | 'issued'} Measure how the chart counts
 */

const DAY_MS = 86_400_000;
const MAX_DAYS = 3660;
/** Decimal digits that every double holds. */
const DECIMAL_DIGITS = 15;

/** @type {readonly (readonly [Measure, name: string, legend: string])[]} */
const MEASURES = [
  ['total', 'Cumulative', 'Tickets issued'],
  ['issued', 'Per day', 'Tickets issued that day'],
];

const CHARTS = new Map(
  MEASURES.map(([measure, , label]) => [
    measure,
    { series: [{ label, color: '--accent', isFilled: true }], format: formatCount, height: 200 },
  ]),
);

/** Counts the tickets of an event, page by page. */
export class SalesTally {
  #dayOf;
  /** @type {Map<string, number>} */
  #issuedOn = new Map();
  /**
   * Amounts paid for tickets that are not cancelled, by currency.
   * @type {Map<string, number>}
   */
  paid = new Map();
  issued = 0;
  cancelled = 0;

  /** @param {string} timeZone of the event */
  constructor(timeZone) {
    this.#dayOf = dayIn(timeZone);
  }

  /** @param {readonly Pick<Ticket, 'issuedAt' | 'cancelledAt' | 'finalPaidPrice' | 'currency'>[]} tickets */
  take(tickets) {
    for (const { issuedAt, cancelledAt, finalPaidPrice, currency } of tickets) {
      add(this.#issuedOn, this.#dayOf(issuedAt), 1);
      this.issued++;
      if (cancelledAt !== null) this.cancelled++;
      else add(this.paid, currency, finalPaidPrice ?? 0);
    }
  }

  /**
   * Returns the days from the first to the last on which a ticket was issued.
   * @returns {SalesDay[]}
   */
  days() {
    // The year may have five digits, since an offset moves the end of 9999.
    const known = [...this.#issuedOn.keys()].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
    let total = 0;
    return daysOf(known).map((day) => {
      const issued = this.#issuedOn.get(day) ?? 0;
      total += issued;
      return { day, issued, total };
    });
  }
}

/**
 * Adds to a sum. Its digits are those of a decimal sum, as far as doubles have them: 0.1 and 0.2 are 0.3.
 * @param {Map<string, number>} sums
 * @param {string} key
 * @param {number} amount
 */
function add(sums, key, amount) {
  sums.set(key, Number(((sums.get(key) ?? 0) + amount).toPrecision(DECIMAL_DIGITS)));
}

/**
 * Returns every day from the first to the last known one. Of a long time, which only wrong data has, only the known days.
 * @param {readonly string[]} known
 */
function daysOf(known) {
  const [first, last] = [known[0], known[known.length - 1]];
  if (known.length === 0 || isLongTime(first, last)) return known;
  const start = Date.parse(first);
  const length = (Date.parse(last) - start) / DAY_MS + 1;
  return Array.from({ length }, (_, i) =>
    new Date(start + i * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
  );
}

/**
 * Returns whether two days are years apart. Days of five-digit years, which cannot be parsed, are.
 * @param {string} first
 * @param {string} last
 */
export function isLongTime(first, last) {
  return !(Date.parse(last) - Date.parse(first) < MAX_DAYS * DAY_MS);
}

/**
 * @param {Reading} walk over the tickets
 * @param {Measure} measure
 * @param {(measure: Measure) => void} select
 */
export function salesView(walk, measure, select) {
  const tally = /** @type {SalesTally | undefined} */ (walk.tally);
  return html`<section class="panel" aria-labelledby="sales">
    <div class="panel-header">
      <h2 id="sales">Sales</h2>
      <div class="actions" role="group" aria-label="Count of tickets">
        ${MEASURES.map(
          ([each, name]) =>
            html`<button
              type="button"
              aria-pressed=${each === measure}
              @click=${() => {
                select(each);
              }}
            >
              ${name}
            </button>`,
        )}
      </div>
    </div>
    ${progressOf(walk)} ${tally === undefined || tally.issued === 0 ? noSales(walk) : sales(tally, measure)}
  </section>`;
}

/** @param {Reading} walk */
function noSales({ isComplete }) {
  return isComplete ? html`<p class="quiet">No ticket has been issued yet.</p>` : skeleton(3);
}

/**
 * @param {SalesTally} tally
 * @param {Measure} measure
 */
function sales(tally, measure) {
  const { issued, cancelled, paid } = tally;
  const days = tally.days();
  const amounts = [...paid].map(([currency, amount]) => formatMoney(amount, currency));
  const sold = days.filter((day) => day.issued > 0);
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
    </dl>
    ${
      isLongTime(days[0].day, days[days.length - 1].day)
        ? html`<p class="quiet">The first and the last day are too far apart for a chart.</p>`
        : html`<time-chart
            aria-hidden="true"
            .options=${CHARTS.get(measure)}
            .data=${chartData(days, measure)}
          ></time-chart>`
    }
    <details class="as-table">
      <summary>Sales as a table</summary>
      ${scrollingTable(
        'Sales by day',
        [
          ['Day', ({ day }) => day],
          ['Issued', (day) => formatCount(day.issued), 'number'],
          ['In total', ({ total }) => formatCount(total), 'number'],
        ],
        sold,
      )}
    </details>`;
}

/**
 * Returns the data of the chart. It begins with zero on the day before the first sale.
 * @param {readonly SalesDay[]} days
 * @param {Measure} measure
 */
function chartData(days, measure) {
  return [
    [secondsOf(days[0].day, -1), ...days.map(({ day }) => secondsOf(day))],
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

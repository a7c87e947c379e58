import { dayIn } from './times.js';

/** @import { TicketRecord } from './columns.js' */

/**
 * Sales over time, counted from tickets.
 *
 * @typedef {object} SalesDay
 * @property {string} day `2026-11-24`, at the venue
 * @property {number} issued tickets issued on the day
 * @property {number} total tickets issued up to its end
 */

const DAY_MS = 86_400_000;

/** Counts the tickets of an event, page by page. */
export class SalesTally {
  #dayOf;
  /** @type {Map<string, number>} */
  #issuedOn = new Map();
  /** @type {Map<string, number>} */
  #paid = new Map();
  issued = 0;
  cancelled = 0;

  /** @param {string} timeZone of the event */
  constructor(timeZone) {
    this.#dayOf = dayIn(timeZone);
  }

  /** @param {readonly TicketRecord[]} tickets */
  take(tickets) {
    for (const { issuedAt, cancelledAt, finalPaidPrice, currency } of tickets) {
      const day = this.#dayOf(issuedAt);
      this.#issuedOn.set(day, (this.#issuedOn.get(day) ?? 0) + 1);
      this.issued++;
      if (cancelledAt !== null) this.cancelled++;
      else this.#paid.set(currency, (this.#paid.get(currency) ?? 0) + (finalPaidPrice ?? 0));
    }
  }

  /**
   * Amounts paid for tickets that are not cancelled, by currency.
   * @returns {ReadonlyMap<string, number>}
   */
  get paid() {
    return this.#paid;
  }

  /**
   * Returns every day from the first to the last on which a ticket was issued.
   * @returns {SalesDay[]}
   */
  days() {
    const known = [...this.#issuedOn.keys()].sort();
    const [first] = known;
    const last = known.at(-1);
    if (last === undefined) return [];
    const days = [];
    let total = 0;
    for (let time = Date.parse(first); time <= Date.parse(last); time += DAY_MS) {
      const day = new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length);
      const issued = this.#issuedOn.get(day) ?? 0;
      total += issued;
      days.push({ day, issued, total });
    }
    return days;
  }
}

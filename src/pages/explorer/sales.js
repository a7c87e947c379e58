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
const MAX_DAYS = 3660;

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
   * Returns the days from the first to the last on which a ticket was issued.
   * @returns {SalesDay[]}
   */
  days() {
    const known = [...this.#issuedOn.keys()].sort(byDay);
    const [first] = known;
    const last = known.at(-1);
    if (last === undefined) return [];
    let total = 0;
    return daysFrom(first, last, known).map((day) => {
      const issued = this.#issuedOn.get(day) ?? 0;
      total += issued;
      return { day, issued, total };
    });
  }
}

/**
 * The year may have five digits, since an offset moves the end of 9999.
 * @param {string} a
 * @param {string} b
 */
function byDay(a, b) {
  return a.length - b.length || (a < b ? -1 : 1);
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
 * Returns every day from one to another. Of a long time, which only wrong data has, only the known days.
 * @param {string} first
 * @param {string} last
 * @param {readonly string[]} known
 */
function daysFrom(first, last, known) {
  if (isLongTime(first, last)) return known;
  const start = Date.parse(first);
  const length = (Date.parse(last) - start) / DAY_MS + 1;
  return Array.from({ length }, (_, i) =>
    new Date(start + i * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
  );
}

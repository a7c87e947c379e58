import { html, nothing, svg } from 'lit-html';
import { formatCount } from '../shared/format.js';
import { stockBySession } from './offers.js';
import { linkTo } from './route.js';
import { formatSession } from './times.js';
import { timeWithOffset } from './values.js';

/** @import { SessionRecord } from './columns.js' */
/** @import { EventRecord } from './events-view.js' */
/** @import { Offer, StockLeft } from './offers.js' */

const SESSIONS_AT_FIRST = 12;

/**
 * Shows stock as a bar with its numbers.
 * @param {StockLeft} stock
 */
export function stockBar({ available, total }) {
  const share = total > 0 ? Math.min(1, Math.max(0, available / total)) : 0;
  const text = available <= 0 ? 'none left' : `${Math.round(share * 100)}% left`;
  return html`<div class="stock">
    <svg class="bar" width="100%" height="8" aria-hidden="true">
      <rect class="track" width="100%" height="8" rx="4" />
      ${share > 0 ? svg`<rect class="fill" width="${share * 100}%" height="8" rx="4" />` : ''}
    </svg>
    <span class="stock-text"
      >${formatCount(available)} of ${formatCount(total)} <span class="quiet">${text}</span></span
    >
  </div>`;
}

/**
 * Shows the stock that is left for each session, over the base tickets of the event.
 * @param {readonly Offer[]} offers
 * @param {readonly SessionRecord[]} sessions
 * @param {EventRecord} event
 */
export function stockView(offers, sessions, event) {
  const stocks = stockBySession(offers);
  const lines = sessions.flatMap((session) => {
    const stock = stocks.get(session.id);
    return stock === undefined ? [] : [{ session, stock }];
  });
  const next = lines.findIndex(({ session }) => session.id === event.nextSessionId);
  const first = next === -1 ? Math.max(0, lines.length - SESSIONS_AT_FIRST) : next;
  const atFirst = lines.slice(first, first + SESSIONS_AT_FIRST);
  return html`<section class="panel" aria-labelledby="stock">
    <div class="panel-header">
      <h2 id="stock">Stock left</h2>
      <p class="quiet">
        ${next === -1 ? 'The latest sessions' : 'The next sessions'}, over all tickets sold on their own
      </p>
    </div>
    ${lines.length === 0 ? html`<p class="quiet">No offer of this event has a stock.</p>` : stockList(atFirst, event)}
    ${
      lines.length === atFirst.length
        ? nothing
        : html`<details class="as-table">
            <summary>All ${lines.length} sessions</summary>
            ${stockList(lines, event)}
          </details>`
    }
  </section>`;
}

/**
 * @param {readonly { session: SessionRecord, stock: StockLeft }[]} lines
 * @param {EventRecord} event
 */
function stockList(lines, { id: eventId }) {
  return html`<ul class="stocks wide">
    ${lines.map(({ session: { id, startAt }, stock }) => {
      const tickets = linkTo(['events', eventId, 'tickets'], `sessionIds=${encodeURIComponent(id)}`);
      return html`<li>
        <a href=${tickets}>${timeWithOffset(startAt, formatSession)}</a>${stockBar(stock)}
      </li>`;
    })}
  </ul>`;
}

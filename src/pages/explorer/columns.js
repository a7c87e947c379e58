import { html } from 'lit-html';
import { linkTo } from './route.js';
import { formatSession, formatWritten } from './times.js';
import { absent, chips, formatMoney, mark, nameOr, timeWithOffset } from './values.js';

/**
 * The columns in which lists show their records. All fields are on the page of a record.
 *
 * @typedef {object} Customer
 * @property {string | null} firstName
 * @property {string | null} lastName
 * @property {string | null} email
 *
 * @typedef {object} SessionRecord
 * @property {string} id
 * @property {string} startAt
 * @property {number | null} durationMinutes
 *
 * @typedef {object} TicketRecord
 * @property {string} ticketId
 * @property {string} status
 * @property {string | null} offerName
 * @property {string | null} priceLabel
 * @property {string} issuedAt
 * @property {string | null} cancelledAt
 * @property {string | null} eventSessionStartAt
 * @property {number | null} finalPaidPrice
 * @property {string} currency
 * @property {Customer | null} customer
 *
 * @typedef {object} OrderRecord
 * @property {string} orderId
 * @property {string | null} orderNumber
 * @property {string} status
 * @property {string} createdAt
 * @property {string} currency
 * @property {number | null} totalPaidPrice
 * @property {readonly { quantity: number | null }[]} placedItems
 * @property {Customer | null} customer
 *
 * @import { Offer } from './offers.js'
 */

/**
 * @template R
 * @typedef {object} Column
 * @property {string} label
 * @property {(record: R) => unknown} cell
 * @property {boolean} [isNumber] whether the column is aligned right
 */

/**
 * @template R
 * @typedef {object} Layout
 * @property {(record: R) => string | undefined} idOf id of the record's own page, if it has one
 * @property {readonly Column<R>[]} columns the first links to the record
 */

/** @type {Layout<SessionRecord>} */
const SESSIONS = {
  idOf: () => undefined,
  columns: [
    { label: 'Start', cell: ({ startAt }) => time(startAt, formatSession) },
    {
      label: 'Duration',
      cell: ({ durationMinutes }) => (durationMinutes === null ? absent : `${durationMinutes} min`),
    },
    { label: 'Session', cell: ({ id }) => html`<code>${id}</code>` },
    {
      label: 'Sold',
      cell: ({ id }) =>
        html`<a href=${linkTo(['tickets'], `sessionIds=${encodeURIComponent(id)}`)}>Tickets</a>`,
    },
  ],
};

/** @type {Layout<TicketRecord>} */
const TICKETS = {
  idOf: ({ ticketId }) => ticketId,
  columns: [
    { label: 'Ticket', cell: ({ offerName, ticketId }) => nameOr(offerName, ticketId) },
    { label: 'Price', cell: ({ priceLabel }) => priceLabel ?? absent },
    { label: 'Customer', cell: ({ customer }) => nameOf(customer) },
    { label: 'Session', cell: ({ eventSessionStartAt }) => time(eventSessionStartAt) },
    { label: 'Issued', cell: ({ issuedAt }) => time(issuedAt) },
    { label: 'Status', cell: ({ status }) => mark(status) },
    {
      label: 'Paid',
      cell: ({ finalPaidPrice, currency }) => money(finalPaidPrice, currency),
      isNumber: true,
    },
  ],
};

/** @type {Layout<OrderRecord>} */
const ORDERS = {
  idOf: ({ orderId }) => orderId,
  columns: [
    { label: 'Order', cell: ({ orderNumber, orderId }) => nameOr(orderNumber, orderId) },
    { label: 'Customer', cell: ({ customer }) => nameOf(customer) },
    { label: 'Created', cell: ({ createdAt }) => time(createdAt) },
    {
      label: 'Items',
      cell: ({ placedItems }) => placedItems.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0),
      isNumber: true,
    },
    { label: 'Status', cell: ({ status }) => mark(status) },
    {
      label: 'Paid',
      cell: ({ totalPaidPrice, currency }) => money(totalPaidPrice, currency),
      isNumber: true,
    },
  ],
};

/** @type {Layout<Offer>} */
const OFFERS = {
  idOf: ({ offerId }) => offerId,
  columns: [
    { label: 'Offer', cell: ({ name, offerId }) => nameOr(name, offerId) },
    { label: 'Type', cell: ({ type }) => mark(type) },
    { label: 'Tags', cell: ({ tags }) => chips(tags) },
    { label: 'Created', cell: ({ createdAt }) => time(createdAt) },
    { label: 'Price', cell: (offer) => prices(offer), isNumber: true },
  ],
};

/**
 * Layouts by the name of the list. The contract gives each list the type of its records.
 * @type {Readonly<Record<string, Layout<never>>>}
 */
export const LAYOUTS = {
  sessions: SESSIONS,
  tickets: TICKETS,
  orders: ORDERS,
  offers: OFFERS,
};

/**
 * @param {string | null} timestamp
 */
function time(timestamp, format = formatWritten) {
  return timestamp === null ? absent : timeWithOffset(timestamp, format);
}

/**
 * @param {number | null} amount
 * @param {string} currency
 */
function money(amount, currency) {
  return amount === null ? absent : formatMoney(amount, currency);
}

/** @param {Customer | null} customer */
function nameOf(customer) {
  const names = [customer?.firstName, customer?.lastName].filter((name) => typeof name === 'string');
  return names.length > 0 ? names.join(' ') : (customer?.email ?? absent);
}

/** @param {Offer} offer */
function prices(offer) {
  const amounts = (offer.type === 'BUNDLE' ? [offer.price] : offer.pricing.map(({ price }) => price)).filter(
    (price) => price !== null,
  );
  if (amounts.length === 0) return absent;
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const from = formatMoney(least, offer.currency);
  return least === most ? from : `${from} – ${formatMoney(most, offer.currency)}`;
}

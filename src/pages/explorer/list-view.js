import { html, nothing } from 'lit-html';
import { scrollingTable } from '../shared/table.js';
import {
  entriesOf,
  filtersIn,
  linkTo,
  queryOf,
  queryOfLink,
  withFirstPage,
  withParameters,
} from './address.js';
import { listRequest, walkRequest } from './contract.js';
import { eventCards } from './events.js';
import { filterForm } from './filter-form.js';
import { listBar, readTotal } from './list-bar.js';
import { answerOf, empty, violationsOf } from './states.js';
import { formatSession, formatWritten } from './times.js';
import { absent, chips, formatMoney, mark, nameOr, timeWithOffset } from './values.js';

/** @import { Exchange } from '../shared/exchange.js' */
/** @import { Column } from '../shared/table.js' */
/** @import { Entry, Route } from './address.js' */
/** @import { Reading } from './api.js' */
/** @import { List } from './contract.js' */
/** @import { Offer, Order, Page, Place, Session, Ticket } from './types.d.ts' */

/**
 * A list: the form of its filters, its records, and links to its pages.
 *
 * @typedef {object} Selection the part of a list that a place shows, besides the query of its address
 * @property {List} list
 * @property {readonly string[]} [ids] values of the parameters of the path
 * @property {readonly Entry[]} [fixed] filters that the place sets
 * @property {readonly string[]} [zones] time zones to offer in the form
 */

const PAGE_SIZES = [10, 25, 50, 100];

/**
 * Reads the page in the address.
 * @param {Place} place
 * @param {Selection} selection
 */
export function readList(place, selection) {
  const { api, contract, route, readings } = place;
  const { list, ids = [], fixed = [] } = selection;
  readings.page = api.read(listRequest(list, ids, [...fixed, ...entriesOf(route.query)]));
  readings.page.whenAnswered((answer) => {
    readTotal(place, selection, answer);
  });
  if (list.name === 'tickets' && fixed.length === 0)
    readings.events = api.read({ ...walkRequest(contract.list('events'), [], []), isAside: true });
}

/**
 * @param {Place} place
 * @param {Selection} selection
 */
export function listView(place, selection) {
  const { route, readings } = place;
  const { list, fixed = [], zones = [] } = selection;
  const { page } = readings;
  const { segments, query } = route;
  const filters = list.filters.filter(({ name }) => fixed.every(([set]) => set !== name));
  const perPage = new URLSearchParams(query).get('perPage') ?? undefined;
  /** @param {readonly Entry[]} entries */
  const submit = (entries) => {
    location.hash = linkTo(segments, withParameters(queryOf(entries), { perPage }));
  };
  return html`
    ${
      filters.length === 0
        ? nothing
        : filterForm({ filters, query, violations: violationsOf(page?.exchange), zones, submit })
    }
    ${activeFilters(route)}
    <section class="results" tabindex="-1" aria-label="Records" aria-busy=${page?.state === 'loading'}>
      ${pageView(place, selection)}
    </section>
  `;
}

/**
 * Shows a page, or the way to the first one if the data of a later page is gone or not loaded yet.
 * @param {Place} place
 * @param {Selection} selection
 */
function pageView(place, selection) {
  const { route, readings } = place;
  const { page } = readings;
  if (violationsOf(page?.exchange).some(({ loc }) => loc === 'query.snapshot'))
    return html`<div class="notice warn" role="alert">
      <p>The data to which this link belongs is no longer served.</p>
      ${toFirstPage(route)}
    </div>`;
  const isHeldUp = page?.state === 'waiting' && new URLSearchParams(route.query).has('snapshot');
  return html`${answerOf(page, (answer) => results(place, selection, answer))}
  ${isHeldUp ? toFirstPage(route) : nothing}`;
}

/** @param {Route} route */
function toFirstPage({ segments, query }) {
  return html`<a class="button" href=${linkTo(segments, withFirstPage(query))}>Start again at page 1</a>`;
}

/**
 * Links that remove one filter each.
 * @param {Route} route
 */
function activeFilters({ segments, query }) {
  const filters = filtersIn(query);
  if (filters.length === 0) return nothing;
  return html`<ul class="active-filters" aria-label="Active filters">
    ${filters.map(
      ([name, value]) =>
        html`<li>
          <a href=${linkTo(segments, withFirstPage(query, { [name]: undefined }))}
            ><span class="unseen">Remove the filter </span><code>${name}</code> ${value}
            <span aria-hidden="true">×</span></a
          >
        </li>`,
    )}
  </ul>`;
}

/**
 * @param {Place} place
 * @param {Selection} selection
 * @param {Exchange} answer
 */
function results(place, selection, { status, body }) {
  const { route, readings } = place;
  const { list, fixed } = selection;
  if (status === 204) return empty('This page is beyond the last one.', toFirstPage(route));
  const page = /** @type {Page} */ (body);
  const bar = listBar(place, selection, page);
  if (page.items.length === 0)
    return html`${bar}
    ${empty(filtersIn(route.query).length > 0 ? 'No record matches these filters.' : `There are no ${list.name}.`)}`;
  const columns =
    list.name === 'tickets' ? ticketColumns(fixed === undefined, readings.events) : COLUMNS[list.name];
  return html`${bar}
  ${columns === undefined ? eventCards(page.items) : scrollingTable(`Table of ${list.name}`, columns, page.items)}
  ${pager(page, route, list)}`;
}

/**
 * Links to the other pages of a list. The next one is the `nextPage` of the API; the others stay on its data.
 * @param {Page} page
 * @param {Route} route
 * @param {List} list
 */
function pager({ page, perPage, totalPages, nextPage }, { segments, query }, { largestPage }) {
  const pinned = nextPage === null ? query : queryOfLink(nextPage);
  /** @param {number} number */
  const linkToPage = (number) =>
    number === page + 1 && nextPage !== null
      ? linkTo(segments, pinned)
      : linkTo(segments, withParameters(pinned, { page: String(number), perPage: String(perPage) }));
  const sizes = new Set([...PAGE_SIZES.filter((size) => size <= largestPage), perPage]);
  /** @param {Event} event */
  const resize = ({ currentTarget }) => {
    if (!(currentTarget instanceof HTMLSelectElement)) return;
    location.hash = linkTo(segments, withFirstPage(query, { perPage: currentTarget.value }));
  };
  return html`<nav class="pager" aria-label="Pages">
    <ul>
      ${pageNumbers(page, totalPages).map((number) =>
        number === 0
          ? html`<li class="gap" aria-hidden="true">…</li>`
          : html`<li>
              <a
                href=${linkToPage(number)}
                aria-label="Page ${number}"
                aria-current=${number === page ? 'page' : nothing}
                >${number}</a
              >
            </li>`,
      )}
    </ul>
    ${page > 1 ? html`<a class="button" href=${linkToPage(page - 1)} rel="prev">Previous</a>` : nothing}
    ${nextPage === null ? nothing : html`<a class="button" href=${linkToPage(page + 1)} rel="next">Next</a>`}
    <label class="per-page"
      >Per page
      <select @change=${resize}>
        ${[...sizes].sort((a, b) => a - b).map((size) => html`<option ?selected=${size === perPage}>${size}</option>`)}
      </select>
    </label>
  </nav>`;
}

/**
 * Returns the page numbers that a pager shows, with 0 for a gap: `1 0 4 5 6 0 75`.
 * @param {number} page
 * @param {number} totalPages
 */
export function pageNumbers(page, totalPages) {
  const near = [1, page - 1, page, page + 1, totalPages].filter((each) => each >= 1 && each <= totalPages);
  const numbers = [...new Set(near)].sort((a, b) => a - b);
  return numbers.flatMap((each, i) => (i > 0 && each > numbers[i - 1] + 1 ? [0, each] : [each]));
}

/** @type {readonly Column<Session>[]} */
const SESSIONS = [
  ['Start', ({ startAt }) => timeWithOffset(startAt, formatSession)],
  ['Duration', ({ durationMinutes }) => `${durationMinutes} min`],
  ['Session', ({ id }) => html`<code>${id}</code>`],
  ['Sold', ({ id }) => html`<a href=${linkTo(['tickets'], queryOf([['sessionIds', id]]))}>Tickets</a>`],
];

/**
 * @param {boolean} isOfAllEvents whether tickets name their event
 * @param {Reading | undefined} reading page of events, for their titles
 * @returns {readonly Column<Ticket>[]}
 */
function ticketColumns(isOfAllEvents, reading) {
  const events = /** @type {readonly { id: string, title: string }[]} */ (
    /** @type {Page | undefined} */ (reading?.answer?.body)?.items ?? []
  );
  const titles = new Map(events.map(({ id, title }) => [id, title]));
  return [
    [
      'Ticket',
      ({ offerName, ticketId, priceLabel }) =>
        html`<div>
          ${link('tickets', ticketId, offerName)}<br /><span class="quiet">${priceLabel}</span>
        </div>`,
    ],
    [
      isOfAllEvents ? 'Event' : 'Session',
      ({ eventId, eventSessionStartAt: startAt }) =>
        html`<div>
          ${isOfAllEvents ? html`${link('events', eventId, titles.get(eventId) ?? null)}<br />` : nothing}
          ${startAt === null ? absent : written(startAt)}
        </div>`,
    ],
    ['QR code', ({ qrCode }) => html`<code>${qrCode}</code>`],
    ['Customer', ({ customer }) => nameOf(customer)],
    ['Issued', ({ issuedAt }) => written(issuedAt)],
    ['Status', ({ status }) => mark(status)],
    ['Paid', ({ finalPaidPrice, currency }) => paid(finalPaidPrice, currency), 'number'],
  ];
}

/** @type {readonly Column<Order>[]} */
const ORDERS = [
  ['Order', ({ orderNumber, orderId }) => link('orders', orderId, orderNumber)],
  ['Customer', ({ customer }) => nameOf(customer)],
  ['Created', ({ createdAt }) => written(createdAt)],
  [
    'Items',
    ({ placedItems }) => placedItems.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0),
    'number',
  ],
  ['Status', ({ status }) => mark(status)],
  ['Paid', ({ totalPaidPrice, currency }) => paid(totalPaidPrice, currency), 'number'],
];

/** @type {readonly Column<Offer>[]} */
const OFFERS = [
  ['Offer', ({ name, offerId }) => link('offers', offerId, name)],
  ['Type', ({ type }) => mark(type)],
  ['Tags', ({ tags }) => chips(tags)],
  ['Created', ({ createdAt }) => written(createdAt)],
  ['Price', (offer) => prices(offer), 'number'],
];

/**
 * Columns by the name of the list, except tickets. All fields are on the page of a record. Events are shown as cards.
 * @type {Readonly<Record<string, readonly Column<never>[] | undefined>>}
 */
const COLUMNS = { sessions: SESSIONS, orders: ORDERS, offers: OFFERS };

/**
 * @param {string} list
 * @param {string} id
 * @param {string | null} name
 */
function link(list, id, name) {
  return html`<a href=${linkTo([list, id])}>${nameOr(name, id)}</a>`;
}

/** @param {string} timestamp */
function written(timestamp) {
  return timeWithOffset(timestamp, formatWritten);
}

/**
 * @param {number | null} amount
 * @param {string} currency
 */
function paid(amount, currency) {
  return amount === null ? absent : formatMoney(amount, currency);
}

/** @param {Pick<NonNullable<Ticket['customer']>, 'firstName' | 'lastName' | 'email'> | null} customer */
function nameOf(customer) {
  const names = [customer?.firstName, customer?.lastName].filter((name) => typeof name === 'string');
  return names.length > 0 ? names.join(' ') : (customer?.email ?? absent);
}

/** @param {Offer} offer */
function prices(offer) {
  const amounts = offer.type === 'BUNDLE' ? [offer.price] : offer.pricing.map(({ price }) => price);
  if (amounts.length === 0) return absent;
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const from = formatMoney(least, offer.currency);
  return least === most ? from : `${from} – ${formatMoney(most, offer.currency)}`;
}

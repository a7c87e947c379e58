import { html, nothing } from 'lit-html';
import { headersFor, largestPage, targetOf } from './contract.js';
import { nextSession, sessionsOf, venueOf } from './events-view.js';
import { listView } from './list-view.js';
import { offersView } from './offers-view.js';
import { poster } from './poster.js';
import { queryOf } from './query.js';
import { recordFields } from './record-view.js';
import { linkTo } from './route.js';
import { SalesTally } from './sales.js';
import { salesView } from './sales-view.js';
import { empty, pageHeader, skeleton, stateOf } from './states.js';
import { stockView } from './stock.js';
import { zoneOrUtc } from './times.js';
import { chips, nameOr } from './values.js';
import { walkState } from './walk-state.js';
import { Collected } from './walks.js';

/** @import { SessionRecord } from './columns.js' */
/** @import { List } from './contract.js' */
/** @import { EventRecord } from './events-view.js' */
/** @import { ApiRequest, Exchange } from './exchange.js' */
/** @import { Place } from './list-view.js' */
/** @import { Offer } from './offers.js' */
/** @import { Measure } from './sales-view.js' */
/** @import { Entry } from './query.js' */
/** @import { Walks } from './walks.js' */

/**
 * The page of an event: its figures, lists of its records, and its offers.
 *
 * @typedef {Place & { sales: Walks<SalesTally>, collected: Walks<Collected>, measure: Measure,
 *   select: (measure: Measure) => void }} EventPlace
 */

/** Parts by the last segment of their place. Those that are lists have its name in the contract. */
const PARTS = {
  overview: 'Overview',
  sessions: 'Sessions',
  tickets: 'Tickets',
  orders: 'Orders',
  offers: 'Offers',
  record: 'Fields',
};

/**
 * @param {EventPlace} place
 * @param {List} list the list of events
 * @param {string} id
 * @param {string} [part]
 */
export function eventView(place, list, id, part = 'overview') {
  const { api } = place;
  const reading = api.read({ target: targetOf(list.recordPath ?? '', [id]), headers: headersFor(list) });
  const hasNoEvent = reading.state === 'refused' || reading.state === 'unreachable';
  return html`${hasNoEvent ? pageHeader(html`<code>${id}</code>`) : nothing}
  ${stateOf(
    api,
    reading,
    (answer) => {
      const event = /** @type {EventRecord} */ (answer.body);
      return html`${header(event)}
        <nav class="tabs" aria-label="Parts of the event">
          <ul>
            ${Object.entries(PARTS).map(
              ([name, label]) =>
                html`<li>
                  <a href=${linkTo(['events', id, name])} aria-current=${name === part ? 'page' : nothing}
                    >${label}</a
                  >
                </li>`,
            )}
          </ul>
        </nav>
        ${partView(place, list, answer, event, part)}`;
    },
    skeleton(3),
  )}`;
}

/** @param {EventRecord} event */
function header(event) {
  return html`<header class="event-header">
    ${poster(event.id, event.nextSessionStartAt)}
    <div>
      <h1 tabindex="-1">${nameOr(event.title, event.id)}</h1>
      ${nextSession(event)}
      <p class="quiet">
        ${[sessionsOf(event), venueOf(event), event.eventTimezone?.replaceAll('_', ' ') ?? '', event.currency]
          .filter((text) => text !== '')
          .join(' · ')}
      </p>
      ${event.description === null ? nothing : html`<p class="lead">${event.description}</p>`}
      ${chips(event.tags)}
    </div>
  </header>`;
}

/**
 * @param {EventPlace} place
 * @param {List} events
 * @param {Exchange} answer
 * @param {EventRecord} event
 * @param {string} part
 */
function partView(place, events, answer, event, part) {
  const { contract } = place;
  const { id } = event;
  const zones = [zoneOrUtc(event.eventTimezone)];
  switch (part) {
    case 'overview':
      return overview(place, event);
    case 'sessions':
      return listView(place, contract.list(part), { ids: [id], zones });
    case 'tickets':
    case 'orders':
      return listView(place, contract.list(part), { fixed: [['eventIds', id]], zones });
    case 'offers':
      return offers(place, event);
    case 'record':
      return recordFields(place, events, id, answer);
    default:
      return empty('There is no such part of the event.');
  }
}

/**
 * Shows sales and stock, computed from the tickets, sessions and offers that the API returns.
 * @param {EventPlace} place
 * @param {EventRecord} event
 */
function overview(place, event) {
  const { sales, measure, select } = place;
  const tickets = sales.from(
    firstPage(place.contract.list('tickets'), [], [['eventIds', event.id]]),
    () => new SalesTally(zoneOrUtc(event.eventTimezone)),
  );
  return html`<div class="panels">
    ${salesView(tickets, measure, select)}
    ${withOffers(place, event, (all, sessions) => stockView(all, sessions, event))}
  </div>`;
}

/**
 * @param {EventPlace} place
 * @param {EventRecord} event
 */
function offers(place, event) {
  const filtered = linkTo(['offers'], queryOf([['eventId', event.id]]));
  const list = place.contract.list('offers');
  /** @param {string} offerId */
  const nameOfOther = (offerId) => {
    const target = targetOf(list.recordPath ?? '', [offerId]);
    const { answer } = place.api.read({ target, headers: headersFor(list) });
    return /** @type {Offer | undefined} */ (answer?.body)?.name ?? undefined;
  };
  return html`<p class="part-note quiet">
      Options stand under the tickets with which they are sold.
      <a href=${filtered}>Filter the offers as a list</a>
    </p>
    ${withOffers(place, event, (all, sessions) =>
      all.length === 0 ? empty('This event has no offers.') : offersView(all, sessions, nameOfOther),
    )}`;
}

/**
 * Shows a view of all offers and sessions of an event, once all are read.
 * @param {EventPlace} place
 * @param {EventRecord} event
 * @param {(offers: readonly Offer[], sessions: readonly SessionRecord[]) => unknown} show
 */
function withOffers({ contract, collected }, { id }, show) {
  const offerWalk = collected.from(
    firstPage(contract.list('offers'), [], [['eventId', id]]),
    () => new Collected(),
  );
  const sessionWalk = collected.from(firstPage(contract.list('sessions'), [id], []), () => new Collected());
  const unfinished = [offerWalk, sessionWalk].filter(({ state }) => state !== 'ready');
  if (unfinished.length > 0) return html`${unfinished.map(walkState)} ${skeleton(4)}`;
  return show(
    /** @type {readonly Offer[]} */ (offerWalk.tally.items),
    /** @type {readonly SessionRecord[]} */ (sessionWalk.tally.items),
  );
}

/**
 * Returns the request for the first page of a list, in pages of the largest size.
 * @param {List} list
 * @param {readonly string[]} ids
 * @param {readonly Entry[]} filters
 * @returns {ApiRequest}
 */
function firstPage(list, ids, filters) {
  const perPage = largestPage(list);
  const query = queryOf(perPage === undefined ? filters : [...filters, ['perPage', String(perPage)]]);
  return { target: targetOf(list.path, ids, query), headers: headersFor(list) };
}

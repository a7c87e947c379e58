import { html, nothing } from 'lit-html';
import { linkTo, queryOf } from './address.js';
import { recordRequest, walkRequest } from './contract.js';
import { inOneLine, nextSession, poster, sessionsOf, venueOf } from './events.js';
import { listView, readList } from './list-view.js';
import { foreignIds } from './offers.js';
import { offersView, stockBySessionView } from './offers-view.js';
import { recordFields } from './record-view.js';
import { SalesTally, salesView } from './sales.js';
import { answerOf, empty, pageHeader, progressOf, skeleton } from './states.js';
import { zoneOrUtc } from './times.js';
import { chips, nameOr } from './values.js';

/** @import { Exchange } from '../shared/exchange.js' */
/** @import { Reading } from './api.js' */
/** @import { List } from './contract.js' */
/** @import { Selection } from './list-view.js' */
/** @import { Measure } from './sales.js' */
/** @import { Event, Offer, Place, Session } from './types.d.ts' */

/**
 * The page of an event: its figures, lists of its records, and its offers.
 *
 * @typedef {object} Switch the measure of sales that the user has selected
 * @property {Measure} measure
 * @property {(measure: Measure) => void} select
 */

/** Parts by the last segment of their place. */
const PARTS = {
  overview: 'Overview',
  sessions: 'Sessions',
  tickets: 'Tickets',
  orders: 'Orders',
  offers: 'Offers',
  record: 'Fields',
};

/** A tally that keeps the records themselves. */
class Collected {
  /** @type {unknown[]} */
  items = [];

  /** @param {readonly unknown[]} items */
  take(items) {
    this.items.push(...items);
  }
}

/**
 * Reads the event, then what its part shows.
 * @param {Place} place
 * @param {List} events
 */
export async function readEvent(place, events) {
  const { api, contract, route, readings } = place;
  const [, id, part = 'overview'] = route.segments;
  const visit = api.leaving;
  readings.record = api.read(recordRequest(events, id));
  await readings.record.completion;
  if (visit !== api.leaving) return;
  const event = /** @type {Event} */ (readings.record.answer?.body);
  const selection = selectionOf(place, event, part);
  if (selection !== undefined) readList(place, selection);
  if (part !== 'overview' && part !== 'offers') return;
  if (part === 'overview')
    readings.tickets = api.read(
      walkRequest(contract.list('tickets'), [], [['eventIds', id]]),
      () => new SalesTally(zoneOrUtc(event.eventTimezone)),
    );
  const list = contract.list('offers');
  readings.offers = api.read(walkRequest(list, [], [['eventId', id]]), () => new Collected());
  readings.sessions = api.read(walkRequest(contract.list('sessions'), [id], []), () => new Collected());
  if (part === 'overview') return;
  await readings.offers.completion;
  if (visit !== api.leaving) return;
  const foreign = foreignIds(offersOf(place));
  readings.foreignOffers = new Map(foreign.map((each) => [each, api.read(recordRequest(list, each))]));
}

/**
 * Returns the list that a part shows, if it is one.
 * @param {Place} place
 * @param {Event} event
 * @param {string} part
 * @returns {Selection | undefined}
 */
function selectionOf({ contract }, { id, eventTimezone }, part) {
  const zones = [zoneOrUtc(eventTimezone)];
  if (part === 'sessions') return { list: contract.list(part), ids: [id], zones };
  if (part === 'tickets' || part === 'orders')
    return { list: contract.list(part), fixed: [['eventIds', id]], zones };
  return undefined;
}

/**
 * Returns the records that a walk has collected.
 * @param {Reading | undefined} walk
 */
function recordsOf(walk) {
  return /** @type {Collected | undefined} */ (walk?.tally)?.items ?? [];
}

/** @param {Place} place */
function offersOf({ readings: { offers } }) {
  return /** @type {readonly Offer[]} */ (recordsOf(offers));
}

/** @param {Place} place */
function sessionsIn({ readings: { sessions } }) {
  return /** @type {readonly Session[]} */ (recordsOf(sessions));
}

/**
 * @param {Place} place
 * @param {List} events
 * @param {Switch} sales
 */
export function eventView(place, events, sales) {
  const { route, readings } = place;
  const [, id, part = 'overview'] = route.segments;
  return html`${readings.record?.state === 'failed' ? pageHeader(html`<code>${id}</code>`) : nothing}
  ${answerOf(
    readings.record,
    (answer) => {
      const event = /** @type {Event} */ (answer.body);
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
        ${partView(place, events, answer, part, sales)}`;
    },
    skeleton(3),
  )}`;
}

/** @param {Event} event */
function header(event) {
  const zone = event.eventTimezone.replaceAll('_', ' ');
  return html`<header class="event-header">
    ${poster(event)}
    <div>
      <h1 tabindex="-1">${nameOr(event.title, event.id)}</h1>
      ${nextSession(event)}
      <p class="quiet">${inOneLine(sessionsOf(event), venueOf(event), zone, event.currency)}</p>
      ${event.description === null ? nothing : html`<p class="lead">${event.description}</p>`}
      ${chips(event.tags)}
    </div>
  </header>`;
}

/**
 * @param {Place} place
 * @param {List} events
 * @param {Exchange} answer
 * @param {string} part
 * @param {Switch} sales
 */
function partView(place, events, answer, part, { measure, select }) {
  const { contract, readings } = place;
  const event = /** @type {Event} */ (answer.body);
  const selection = selectionOf(place, event, part);
  if (selection !== undefined) return listView(place, selection);
  switch (part) {
    case 'overview':
      return html`<div class="panels">
        ${readings.tickets === undefined ? nothing : salesView(readings.tickets, measure, select)}
        ${whenComplete(place, () => stockBySessionView(offersOf(place), sessionsIn(place), event))}
      </div>`;
    case 'offers':
      return html`<p class="related quiet">
          Options are listed under the tickets with which they are sold.
          <a href=${linkTo(['offers'], queryOf([['eventId', event.id]]))}>Filter the offers as a list</a>
        </p>
        ${whenComplete(place, () => offersPart(place))}`;
    case 'record':
      return recordFields(contract, events, event.id, answer);
    default:
      return empty('There is no such part of the event.');
  }
}

/**
 * Shows a view of all offers and sessions of an event, once all are read.
 * @param {Place} place
 * @param {() => unknown} show
 */
function whenComplete({ readings: { offers, sessions } }, show) {
  if (offers === undefined || sessions === undefined) return skeleton(4);
  const walks = [offers, sessions];
  const isComplete = walks.every((walk) => walk.isComplete && walk.state !== 'failed');
  return html`${walks.map(progressOf)} ${isComplete ? show() : skeleton(4)}`;
}

/** @param {Place} place */
function offersPart(place) {
  const offers = offersOf(place);
  if (offers.length === 0) return empty('This event has no offers.');
  /** @param {string} id */
  const nameOfForeign = (id) => {
    const answer = place.readings.foreignOffers?.get(id)?.answer;
    return /** @type {Offer | undefined} */ (answer?.body)?.name;
  };
  return offersView(offers, sessionsIn(place), nameOfForeign);
}

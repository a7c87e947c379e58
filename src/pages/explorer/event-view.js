import { html, nothing } from 'lit-html';
import { headersFor, targetOf } from './contract.js';
import { nextSession, venueOf } from './events-view.js';
import { listView } from './list-view.js';
import { poster } from './poster.js';
import { recordFields } from './record-view.js';
import { linkTo } from './route.js';
import { skeleton, stateOf } from './states.js';
import { chips } from './values.js';

/** @import { List } from './contract.js' */
/** @import { EventRecord } from './events-view.js' */
/** @import { Exchange } from './exchange.js' */
/** @import { Place } from './list-view.js' */

/**
 * The parts of an event: lists of the contract, and how each is limited to the event.
 * @type {Readonly<Record<string, ((id: string) => { ids?: readonly string[], fixed?: readonly (readonly [string, string])[] }) | undefined>>}
 */
const LISTS = {
  sessions: (id) => ({ ids: [id] }),
  tickets: (id) => ({ fixed: [['eventIds', id]] }),
  orders: (id) => ({ fixed: [['eventIds', id]] }),
};

const TABS = /** @type {const} */ ([
  ['sessions', 'Sessions'],
  ['tickets', 'Tickets'],
  ['orders', 'Orders'],
  ['record', 'Fields'],
]);

/**
 * Shows an event with its parts.
 * @param {Place} place
 * @param {List} list the list of events
 * @param {string} id
 * @param {string} tab
 */
export function eventView(place, list, id, tab = 'sessions') {
  const { api } = place;
  const reading = api.read({ target: targetOf(list.recordPath ?? '', [id]), headers: headersFor(list) });
  return stateOf(
    api,
    reading,
    (answer) => {
      const event = /** @type {EventRecord} */ (answer.body);
      return html`${header(event)}
        <nav class="tabs" aria-label="Parts of the event">
          <ul>
            ${TABS.map(
              ([name, label]) =>
                html`<li>
                  <a href=${linkTo(['events', id, name])} aria-current=${name === tab ? 'page' : nothing}
                    >${label}</a
                  >
                </li>`,
            )}
          </ul>
        </nav>
        <section aria-label=${TABS.find(([name]) => name === tab)?.[1] ?? tab}>
          ${part(place, list, answer, event, tab)}
        </section>`;
    },
    skeleton(3),
  );
}

/** @param {EventRecord} event */
function header(event) {
  return html`<header class="event-header">
    ${poster(event.id, event.nextSessionStartAt)}
    <div>
      <h1 tabindex="-1">${event.title ?? event.id}</h1>
      <p class="when">${nextSession(event)}</p>
      <p class="quiet">
        ${[venueOf(event), event.eventTimezone.replaceAll('_', ' '), event.currency].filter((part) => part !== '').join(' · ')}
      </p>
      ${event.description === null ? nothing : html`<p class="lead">${event.description}</p>`}
      ${chips(event.tags)}
    </div>
  </header>`;
}

/**
 * @param {Place} place
 * @param {List} events
 * @param {Exchange} answer
 * @param {EventRecord} event
 * @param {string} tab
 */
function part(place, events, answer, event, tab) {
  if (tab === 'record') return recordFields(place, events, event.id, answer);
  const list = place.contract.list(tab);
  const limit = LISTS[tab];
  if (list === undefined || limit === undefined) return nothing;
  return listView(place, list, { ...limit(event.id), zones: [event.eventTimezone] });
}

import { html } from 'lit-html';
import { poster } from './poster.js';
import { linkTo } from './route.js';
import { formatDistance, formatSession, formatWritten } from './times.js';
import { chips, nameOr, timeWithOffset } from './values.js';

/**
 * @typedef {object} EventRecord
 * @property {string} id
 * @property {string} createdAt
 * @property {string | null} title
 * @property {string | null} description
 * @property {string | null} venueName
 * @property {{ addressLine1: string | null, city: string | null, countryCode: string | null } | null} venueAddress
 * @property {string | null} eventTimezone
 * @property {string} currency
 * @property {number} sessionCount
 * @property {string} firstSessionStartAt
 * @property {string} lastSessionStartAt
 * @property {string | null} nextSessionStartAt
 * @property {string | null} nextSessionId
 * @property {readonly string[]} tags
 */

/**
 * Shows events as cards.
 * @param {readonly EventRecord[]} events
 */
export function eventCards(events) {
  return html`<ul class="cards">
    ${events.map(
      (event) =>
        html`<li class="card">
          ${poster(event.id, event.nextSessionStartAt)}
          <div class="card-body">
            <h2><a href=${linkTo(['events', event.id])}>${nameOr(event.title, event.id)}</a></h2>
            ${nextSession(event)}
            <p class="quiet">
              ${[sessionsOf(event), venueOf(event)].filter((part) => part !== '').join(' · ')}
            </p>
            <p class="quiet">Created ${timeWithOffset(event.createdAt, formatWritten)}</p>
            ${chips(event.tags)}
          </div>
        </li>`,
    )}
  </ul>`;
}

/**
 * Tells the next session of an event at the venue's time.
 * @param {EventRecord} event
 */
export function nextSession({ nextSessionStartAt, lastSessionStartAt }) {
  if (nextSessionStartAt === null)
    return html`<p class="when quiet">Ended ${timeWithOffset(lastSessionStartAt, formatWritten)}</p>`;
  return html`<p class="when">
    ${timeWithOffset(nextSessionStartAt, formatSession)}
    <span class="quiet">${formatDistance(nextSessionStartAt)}</span>
  </p>`;
}

/** @param {EventRecord} event */
export function sessionsOf({ sessionCount }) {
  return sessionCount === 1 ? '1 session' : `${sessionCount} sessions`;
}

/**
 * Returns the venue and its city. A venue in legacy free text has no address.
 * @param {EventRecord} event
 */
export function venueOf({ venueName, venueAddress }) {
  return [venueName, venueAddress?.city].filter((part) => typeof part === 'string').join(', ');
}

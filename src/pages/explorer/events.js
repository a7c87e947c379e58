import { html, svg } from 'lit-html';
import { linkTo } from './address.js';
import { calendarLeaf, formatDistance, formatSession, formatWritten } from './times.js';
import { chips, nameOr, timeWithOffset } from './values.js';

/** @import { Event } from './types.d.ts' */

/** Events as cards, and the parts that their pages share with the cards. */

/** @param {readonly Event[]} events */
export function eventCards(events) {
  return html`<ul class="cards">
    ${events.map(
      (event) =>
        html`<li class="card">
          ${poster(event)}
          <div class="card-body">
            <h2><a href=${linkTo(['events', event.id])}>${nameOr(event.title, event.id)}</a></h2>
            ${nextSession(event)}
            <p class="quiet">${inOneLine(sessionsOf(event), venueOf(event))}</p>
            <p class="quiet">Created ${timeWithOffset(event.createdAt, formatWritten)}</p>
            ${chips(event.tags)}
          </div>
        </li>`,
    )}
  </ul>`;
}

/** @param {readonly (string | undefined)[]} texts */
export function inOneLine(...texts) {
  return texts.filter(Boolean).join(' · ');
}

/**
 * Shows the next session of an event at the venue's time.
 * @param {Event} event
 */
export function nextSession({ nextSessionStartAt, lastSessionStartAt }) {
  if (nextSessionStartAt === null)
    return html`<p class="when quiet">Ended ${timeWithOffset(lastSessionStartAt, formatWritten)}</p>`;
  return html`<p class="when">
    ${timeWithOffset(nextSessionStartAt, formatSession)}
    <span class="quiet">${formatDistance(nextSessionStartAt)}</span>
  </p>`;
}

/** @param {Event} event */
export function sessionsOf({ sessionCount }) {
  return sessionCount === 1 ? '1 session' : `${sessionCount} sessions`;
}

/**
 * Returns the venue and its city. A venue in legacy free text has no address.
 * @param {Event} event
 */
export function venueOf({ venueName, venueAddress }) {
  return [venueName, venueAddress?.city].filter((part) => typeof part === 'string').join(', ');
}

const WIDTH = 320;
const HEIGHT = 96;

/**
 * Draws rows of arches, laid out by the last characters of the event's id, with the day of the next session. The picture
 * of the event is on another host, which the policy of the page forbids.
 * @param {Event} event
 */
export function poster({ id, nextSessionStartAt }) {
  const codes = Array.from(id, (character) => character.charCodeAt(0)).reverse();
  const [last] = codes;
  const arches = 3 + (last % 4);
  const step = WIDTH / arches;
  const heights = Array.from({ length: arches }, (_, i) => codes[(i + 1) % codes.length] % 4);
  return html`<div class="poster">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      ${heights.map((height, i) => nestedArches(i * step, step, height))}
    </svg>
    ${nextSessionStartAt === null ? '' : leaf(nextSessionStartAt)}
  </div>`;
}

/** @param {string} timestamp */
function leaf(timestamp) {
  const { day, month, year } = calendarLeaf(timestamp);
  return html`<div class="leaf" aria-hidden="true">
    <span>${month}</span><span class="day">${day}</span><span>${year}</span>
  </div>`;
}

/**
 * Draws arches, each within another, above the ground.
 * @param {number} x
 * @param {number} width
 * @param {number} height 0 to 3
 */
function nestedArches(x, width, height) {
  const inset = width * 0.12;
  const shapes = [];
  for (let margin = inset / 2, depth = 1; depth <= 3 && width / 2 - margin > 3; margin += inset, depth++) {
    const radius = width / 2 - margin;
    const top = HEIGHT - radius - 8 - height * 9 + (depth - 1) * inset * 0.8;
    const path = `M${x + margin} ${HEIGHT}V${top}a${radius} ${radius} 0 0 1 ${radius * 2} 0V${HEIGHT}Z`;
    shapes.push(svg`<path d=${path} />`);
  }
  return shapes;
}

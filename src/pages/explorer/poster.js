import { html, svg } from 'lit-html';
import { calendarLeaf } from './times.js';

/**
 * The drawing that stands for an event. Its picture is on another host, which the policy of the page forbids. An event
 * always has the same drawing: rows of arches, laid out by its id.
 */

const WIDTH = 320;
const HEIGHT = 96;
const TONES = 4;

/**
 * @param {string} id
 * @param {string | null} timestamp shown as a calendar leaf
 */
export function poster(id, timestamp) {
  const seed = hashOf(id);
  const arches = 3 + (seed % 4);
  const step = WIDTH / arches;
  const inset = step * (0.12 + ((seed >>> 4) % 3) * 0.03);
  return html`<div class="poster tone-${(seed >>> 8) % TONES}">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      ${Array.from({ length: arches }, (_, i) => arch(i * step, step, (seed >>> (i * 2)) & 3, inset))}
    </svg>
    ${timestamp === null ? '' : leaf(timestamp)}
  </div>`;
}

/** @param {string} timestamp */
export function leaf(timestamp) {
  const { day, month, year } = calendarLeaf(timestamp);
  return html`<div class="leaf" aria-hidden="true">
    <span class="month">${month}</span><span class="day">${day}</span><span class="year">${year}</span>
  </div>`;
}

/**
 * Draws nested arches above the ground.
 * @param {number} x
 * @param {number} width
 * @param {number} height 0 to 3
 * @param {number} inset between an arch and the one within
 */
function arch(x, width, height, inset) {
  const shapes = [];
  for (let margin = inset / 2, depth = 1; depth <= 3 && width / 2 - margin > 3; margin += inset, depth++) {
    const radius = width / 2 - margin;
    const top = HEIGHT - radius - 8 - height * 9 + (depth - 1) * inset * 0.8;
    const path = `M${x + margin} ${HEIGHT}V${top}a${radius} ${radius} 0 0 1 ${radius * 2} 0V${HEIGHT}Z`;
    shapes.push(svg`<path class="depth-${depth}" d=${path} />`);
  }
  return shapes;
}

/**
 * Returns a hash of a text: FNV-1a, 32 bits.
 * @param {string} text
 */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

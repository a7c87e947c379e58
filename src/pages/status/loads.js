import { html, nothing, svg } from 'lit-html';
import { formatCount, formatDateTime, formatDuration } from '../shared/format.js';
import { scrollingTable } from '../shared/table.js';
import { badge } from './marks.js';

/** @import { Column } from '../shared/table.js' */
/** @import { LoadOutcome } from './types.d.ts' */

/** The last loads: a strip of their durations, and a table. */

const SHORT_LIST = 8;
const STRIP_HEIGHT = 48;

/** @type {readonly Column<LoadOutcome>[]} */
const COLUMNS = [
  ['Started', ({ startedAt }) => formatDateTime(startedAt)],
  ['File', ({ file }) => file, 'header'],
  [
    'Outcome',
    (load) =>
      load.outcome === 'live'
        ? badge('good', 'live')
        : html`<span title=${load.detail}>${badge('bad', `refused: ${load.reason}`)}</span>`,
  ],
  ['Duration', (load) => durationOf(load), 'number'],
  ['Records', (load) => (load.outcome === 'live' ? formatCount(load.rows) : '–'), 'number'],
  ['Organizations', (load) => (load.outcome === 'live' ? formatCount(load.organizations) : '–'), 'number'],
];

/** @param {Pick<LoadOutcome, 'durationMs'>} load */
export function durationOf({ durationMs }) {
  return formatDuration(durationMs / 1000);
}

/**
 * @param {readonly LoadOutcome[]} loads latest first
 * @param {boolean} isExpanded whether the table has all of them
 * @param {() => void} toggle
 */
export function loadsSection(loads, isExpanded, toggle) {
  const listed = isExpanded ? loads : loads.slice(0, SHORT_LIST);
  return html`<section aria-labelledby="loads">
    <h2 id="loads">Last loads</h2>
    ${
      loads.length === 0
        ? html`<p class="empty">No snapshot has been loaded since the start.</p>`
        : html`${strip(loads)} ${scrollingTable('Table of loads', COLUMNS, listed)}`
    }
    ${
      loads.length <= SHORT_LIST
        ? nothing
        : html`<button type="button" aria-expanded=${isExpanded} @click=${toggle}>
            ${isExpanded ? 'Show fewer' : `Show all ${loads.length}`}
          </button>`
    }
  </section>`;
}

/** @param {readonly LoadOutcome[]} loads */
function strip(loads) {
  const longest = Math.max(...loads.map(({ durationMs }) => durationMs));
  const refused = loads.filter(({ outcome }) => outcome === 'refused').length;
  const longestText = durationOf({ durationMs: longest });
  const text = `${loads.length} loads, the latest on the right: the longest took ${longestText}, ${refused} refused`;
  const bars = loads.toReversed().map((load, i) => {
    const height = Math.max(3, (load.durationMs / longest) * (STRIP_HEIGHT - 2));
    return svg`<rect class=${load.outcome} x=${i * 12 + 1} y=${STRIP_HEIGHT - 1 - height} width="9" height=${height}>
      <title>${load.file}: ${load.outcome} after ${durationOf(load)}</title>
    </rect>`;
  });
  return html`<figure class="strip">
    <svg role="img" aria-label=${text} width=${loads.length * 12 + 2} height=${STRIP_HEIGHT}>${bars}</svg>
    <figcaption class="note">
      Durations, the latest on the right; the longest is ${longestText}. Filled: live. Hollow: refused.
    </figcaption>
  </figure>`;
}

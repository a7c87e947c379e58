import { html, nothing, svg } from 'lit-html';
import { formatCount, formatDateTime, formatDuration } from '../shared/format.js';
import { badge } from './marks.js';

/** The last loads: a strip of their durations, and a table. */

/** @import { LoadOutcome } from './responses.js' */

const SHORT_LIST = 8;
const STRIP_HEIGHT = 48;

/**
 * @param {readonly LoadOutcome[]} loads latest first
 * @param {boolean} isExpanded whether the table has all of them
 * @param {() => void} toggle
 */
export function loadsSection(loads, isExpanded, toggle) {
  return html`<section aria-labelledby="loads">
    <h2 id="loads">Last loads</h2>
    ${loads.length === 0 ? html`<p class="empty">No snapshot has been loaded since the start.</p>` : nothing}
    ${loads.length === 0 ? nothing : html`${strip(loads)} ${table(isExpanded ? loads : loads.slice(0, SHORT_LIST))}`}
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
  const text = `${loads.length} loads, the latest on the right: the longest took ${formatDuration(longest / 1000)}, ${refused} refused`;
  const bars = loads.toReversed().map(({ file, durationMs, outcome }, i) => {
    const height = Math.max(3, (durationMs / longest) * (STRIP_HEIGHT - 2));
    return svg`<rect class=${outcome} x=${i * 12 + 1} y=${STRIP_HEIGHT - 1 - height} width="9" height=${height}>
      <title>${file}: ${outcome} after ${formatDuration(durationMs / 1000)}</title>
    </rect>`;
  });
  return html`<figure class="strip">
    <svg role="img" aria-label=${text} width=${loads.length * 12 + 2} height=${STRIP_HEIGHT}>${bars}</svg>
    <figcaption class="note">
      Durations, the latest on the right; the longest is ${formatDuration(longest / 1000)}. Filled: live.
      Hollow: refused.
    </figcaption>
  </figure>`;
}

/** @param {readonly LoadOutcome[]} loads */
function table(loads) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of loads">
    <table>
      <thead>
        <tr>
          <th>Started</th>
          <th>File</th>
          <th>Outcome</th>
          <th class="number">Duration</th>
          <th class="number">Records</th>
          <th class="number">Organizations</th>
        </tr>
      </thead>
      <tbody>
        ${loads.map(
          (load) =>
            html`<tr>
              <td>${formatDateTime(load.startedAt)}</td>
              <th scope="row">${load.file}</th>
              <td>
                ${
                  load.outcome === 'live'
                    ? badge('good', 'live')
                    : html`<span title=${load.detail}>${badge('bad', `refused: ${load.reason}`)}</span>`
                }
              </td>
              <td class="number">${formatDuration(load.durationMs / 1000)}</td>
              <td class="number">${load.outcome === 'live' ? formatCount(load.rows) : '–'}</td>
              <td class="number">${load.outcome === 'live' ? formatCount(load.organizations) : '–'}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

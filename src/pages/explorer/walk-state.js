import { html, nothing } from 'lit-html';
import { formatCount } from '../shared/format.js';
import { problem, unreachable, waiting } from './states.js';

/** @import { Tally, Walk } from './walks.js' */

/**
 * Shows the progress of a walk, or the reason for its end.
 * @param {Walk<Tally>} walk
 */
export function walkState(walk) {
  const { state, pagesRead, totalPages, retryAt, refusal } = walk;
  const resume = () => {
    walk.resume();
  };
  if (state === 'ready') return nothing;
  if (state === 'failed') {
    if (refusal?.status === undefined) return unreachable(resume);
    return html`${problem(refusal)}
      <p><button type="button" @click=${resume}>Begin again</button></p>`;
  }
  return html`<div class="walk">
    ${state === 'waiting' ? waiting(retryAt) : nothing}
    <label
      >${totalPages === 0 ? 'Reading the first page' : `${formatCount(pagesRead)} of ${formatCount(totalPages)} pages`}
      <progress max=${Math.max(1, totalPages)} value=${pagesRead}></progress
    ></label>
    ${
      state === 'paused'
        ? html`<button type="button" @click=${resume}>
            Read the other ${formatCount(totalPages - pagesRead)}
          </button>`
        : html`<button
            type="button"
            @click=${() => {
              walk.pause();
            }}
          >
            Stop
          </button>`
    }
  </div>`;
}

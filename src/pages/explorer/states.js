import { html, nothing } from 'lit-html';
import { headerOf } from '../shared/exchange.js';
import { formatCount } from '../shared/format.js';
import { detailOf, UNREACHABLE } from '../shared/session.js';
import { prose } from './values.js';

/** @import { Exchange } from '../shared/exchange.js' */
/** @import { Reading } from './api.js' */
/** @import { Violation } from './types.d.ts' */

/** Views of a request that is under way, waits, or has failed. */

/**
 * Shows the answer of a reading, or its state. While a known answer is confirmed, it stays in view.
 * @param {Reading | undefined} reading
 * @param {(answer: Exchange) => unknown} show
 * @param {unknown} [placeholder] shown until the first answer has come
 */
export function answerOf(reading, show, placeholder = skeleton(5)) {
  if (reading === undefined) return nothing;
  const { state, answer } = reading;
  if (state === 'failed') return failure(reading);
  if (state === 'waiting') return html`${waiting(reading)} ${answer === undefined ? nothing : show(answer)}`;
  if (answer === undefined)
    return html`<div aria-busy="true">
      <p class="unseen" role="status">Loading</p>
      ${placeholder}
    </div>`;
  return html`${ignoredParameters(answer)} ${show(answer)}`;
}

/**
 * Shows the progress of a walk, or why it ended.
 * @param {Reading} walk
 */
export function progressOf(walk) {
  const { state, isComplete, pagesRead, totalPages } = walk;
  if (state === 'failed') return failure(walk);
  const notice = state === 'waiting' ? waiting(walk) : nothing;
  if (isComplete) return notice;
  const [label, act] =
    state === 'paused'
      ? [`Read the other ${formatCount(totalPages - pagesRead)}`, () => void walk.resume()]
      : [
          'Stop',
          () => {
            walk.stop();
          },
        ];
  return html`<div class="walk">
    ${notice}
    <label
      >${totalPages === 0 ? 'Reading the first page' : `${formatCount(pagesRead)} of ${formatCount(totalPages)} pages`}
      <progress max=${Math.max(1, totalPages)} value=${pagesRead}></progress
    ></label>
    <button type="button" @click=${act}>${label}</button>
  </div>`;
}

/** @param {Reading} reading */
function failure(reading) {
  const { exchange, newTally } = reading;
  const retry = () => void reading.resume();
  if (exchange === undefined || exchange.status === 0)
    return html`<div class="notice bad" role="alert">
      <p>${UNREACHABLE}</p>
      <button type="button" @click=${retry}>Try again</button>
    </div>`;
  if (newTally === undefined) return refusal(exchange);
  return html`${refusal(exchange)}
    <p><button type="button" @click=${retry}>Begin again</button></p>`;
}

/**
 * Shows a refusal with the words of the API.
 * @param {Exchange} exchange
 */
function refusal(exchange) {
  const violations = violationsOf(exchange);
  return html`<div class="notice bad" role="alert">
    <p><strong>${exchange.status}</strong> ${prose(detailOf(exchange))}</p>
    ${
      violations.length === 0
        ? nothing
        : html`<ul>
            ${violations.map(({ loc, input, ctx }) => html`<li><code>${loc}</code> <q>${input}</q> ${ctx}</li>`)}
          </ul>`
    }
    ${exchange.status === 403 ? html`<p>Sign out, and sign in with a valid key.</p>` : nothing}
  </div>`;
}

/**
 * Returns the violations of a refused query, without the advice on the encoding of a URL: the page encodes by itself.
 * @param {Exchange | undefined} exchange
 * @returns {readonly Violation[]}
 */
export function violationsOf(exchange) {
  const { errors = [] } = /** @type {{ errors?: readonly Violation[] }} */ (exchange?.body ?? {});
  return errors.map(({ ctx, ...rest }) => ({
    ...rest,
    ctx: ctx.replace(/; encode \+ as %2B[^;]*/, '').replaceAll('%2B', '+'),
  }));
}

/**
 * Counts down to the next attempt after a 429.
 * @param {{ readonly exchange?: Exchange | undefined, readonly retryAt: number }} refused
 */
export function waiting({ exchange, retryAt }) {
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1000));
  return html`<div class="notice warn">
    <p role="status">
      <strong>429</strong> ${exchange === undefined ? nothing : prose(detailOf(exchange))} The request is sent
      again after the wait.
    </p>
    <p class="countdown" aria-hidden="true">${seconds} s</p>
  </div>`;
}

/** @param {Exchange} answer */
function ignoredParameters(answer) {
  const names = headerOf(answer, 'service-api-ignored-parameters');
  if (names === undefined) return nothing;
  return html`<div class="notice warn" role="status">
    <p><strong>Ignored parameters:</strong> <code>${names}</code>. This list has no such filter.</p>
  </div>`;
}

/**
 * Draws the outline of content to come.
 * @param {number} rows
 */
export function skeleton(rows) {
  return html`<div class="skeleton" aria-hidden="true">
    ${Array.from({ length: rows }, () => html`<div></div>`)}
  </div>`;
}

/**
 * @param {unknown} title
 * @param {unknown} [text] shown below the title
 */
export function pageHeader(title, text = nothing) {
  return html`<header class="page-header">
    <h1 tabindex="-1">${title}</h1>
    <p class="quiet">${text}</p>
  </header>`;
}

/**
 * @param {string} title
 * @param {unknown} [advice]
 */
export function empty(title, advice = nothing) {
  return html`<div class="empty">
    <p><strong>${title}</strong></p>
    <p class="quiet">${advice}</p>
  </div>`;
}

import { html, nothing } from 'lit-html';
import { detailOf, UNREACHABLE } from '../shared/outcomes.js';
import { headerOf } from './exchange.js';
import { prose } from './values.js';

/** @import { Api, Reading } from './api.js' */
/** @import { Exchange } from './exchange.js' */

/**
 * Views of a request that is under way, waits, or has failed.
 *
 * @typedef {object} Violation
 * @property {string} loc such as `query.page`
 * @property {string} input
 * @property {string} ctx
 */

const IGNORED_PARAMETERS = 'service-api-ignored-parameters';

/**
 * Shows the answer of a reading, or its state. While an earlier answer is confirmed, it stays in view.
 * @param {Api} api
 * @param {Readonly<Reading>} reading
 * @param {(answer: Exchange) => unknown} show
 * @param {unknown} [placeholder] shown while the first answer is under way
 * @returns {unknown}
 */
export function stateOf(api, reading, show, placeholder = skeleton(5)) {
  const { state, answer, exchange } = reading;
  if (state === 'waiting')
    return html`${waiting(reading.retryAt)} ${answer === undefined ? nothing : show(answer)}`;
  if (state === 'unreachable') return unreachable(() => api.refresh(reading.request));
  if (state === 'refused' && exchange !== undefined) return problem(exchange);
  if (answer === undefined)
    return html`<div aria-busy="true">
      <p class="unseen" role="status">Loading</p>
      ${placeholder}
    </div>`;
  return html`${ignoredParameters(answer)} ${show(answer)}`;
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
 * Counts down to the next attempt after a 429. The page is drawn anew each second while a request waits.
 * @param {number} retryAt
 */
export function waiting(retryAt) {
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1000));
  return html`<div class="notice warn">
    <p role="status">
      <strong>429: too many requests.</strong> The API asks to wait; the request is then sent again.
    </p>
    <p class="countdown" aria-hidden="true">${seconds} s</p>
  </div>`;
}

/** @param {() => void} retry */
export function unreachable(retry) {
  return html`<div class="notice bad" role="alert">
    <p>${UNREACHABLE}</p>
    <button type="button" @click=${retry}>Try again</button>
  </div>`;
}

/**
 * Shows a refusal with the words of the API.
 * @param {Exchange} outcome
 */
export function problem(outcome) {
  const violations = violationsOf(outcome);
  return html`<div class="notice bad" role="alert">
    <p><strong>${outcome.status}</strong> ${prose(detailOf(outcome.status ?? 0, outcome.body))}</p>
    ${
      violations.length === 0
        ? nothing
        : html`<ul>
            ${violations.map(({ loc, input, ctx }) => html`<li><code>${loc}</code> <q>${input}</q> ${ctx}</li>`)}
          </ul>`
    }
    ${outcome.status === 403 ? html`<p>Sign out, and sign in with a valid key.</p>` : nothing}
  </div>`;
}

/** @param {Exchange} answer */
function ignoredParameters(answer) {
  const names = headerOf(answer, IGNORED_PARAMETERS);
  if (names === undefined) return nothing;
  return html`<div class="notice warn" role="status">
    <p><strong>Ignored parameters:</strong> <code>${names}</code>. This list has no such filter.</p>
  </div>`;
}

/**
 * Heads a page of which there is no more to show.
 * @param {unknown} title
 */
export function pageHeader(title) {
  return html`<header class="page-header"><h1 tabindex="-1">${title}</h1></header>`;
}

/**
 * @param {string} title
 * @param {unknown} [advice]
 */
export function empty(title, advice = nothing) {
  return html`<div class="empty">
    <svg viewBox="0 0 64 40" width="96" height="60" aria-hidden="true">
      <path class="arch" d="M8 40V22a10 10 0 0 1 20 0v18" />
      <path class="arch" d="M36 40V22a10 10 0 0 1 20 0v18" />
      <path class="arch" d="M0 39.5h64" />
    </svg>
    <p><strong>${title}</strong></p>
    <p class="quiet">${advice}</p>
  </div>`;
}

/**
 * Returns the violations of a refused query.
 * @param {Exchange | undefined} outcome
 * @returns {readonly Violation[]}
 */
export function violationsOf(outcome) {
  const { errors } = /** @type {{ errors?: readonly Violation[] }} */ (outcome?.body ?? {});
  return errors ?? [];
}

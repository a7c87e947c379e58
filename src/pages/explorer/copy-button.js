import { html } from 'lit-html';
import { copy } from '../shared/curl.js';

const CONFIRMED_MS = 1500;

/**
 * A button that copies a text, and shows the outcome for a moment.
 * @param {string} label
 * @param {() => string} textOf
 */
export function copyButton(label, textOf) {
  /** @param {Event} event */
  const onClick = async ({ currentTarget }) => {
    if (!(currentTarget instanceof HTMLButtonElement)) return;
    const outcome = currentTarget.querySelector('.outcome');
    if (outcome === null) return;
    outcome.textContent = await copy(textOf());
    setTimeout(() => {
      outcome.replaceChildren();
    }, CONFIRMED_MS);
  };
  return html`<button type="button" class="copy" @click=${onClick}>
    ${label} <span class="outcome" role="status"></span>
  </button>`;
}

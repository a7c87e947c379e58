import { html } from 'lit-html';
import { copied } from '../shared/clipboard.js';

const CONFIRMED_MS = 1500;

/**
 * A button that copies a text, and says so.
 * @param {string} label
 * @param {() => string} textOf
 */
export function copyButton(label, textOf) {
  /** @param {Event} event */
  const copy = ({ currentTarget }) => {
    if (currentTarget instanceof HTMLButtonElement) void copyAndConfirm(currentTarget, textOf());
  };
  return html`<button type="button" class="copy" @click=${copy}>
    ${label}<span class="outcome" role="status"></span>
  </button>`;
}

/**
 * @param {HTMLButtonElement} button
 * @param {string} text
 */
async function copyAndConfirm(button, text) {
  const outcome = button.querySelector('.outcome');
  if (outcome === null) return;
  outcome.textContent = (await copied(text)) ? 'Copied' : 'Not permitted';
  setTimeout(() => {
    outcome.textContent = '';
  }, CONFIRMED_MS);
}

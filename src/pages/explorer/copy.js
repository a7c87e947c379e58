import { html } from 'lit-html';

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

/**
 * Returns whether a text was copied. Browsers permit it on HTTPS and on the local host.
 * @param {string} text
 */
async function copied(text) {
  if (!isSecureContext) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

import { html, nothing } from 'lit-html';
import { curlLine, maskedCurlLine } from '../shared/curl.js';
import { formatBytes } from '../shared/format.js';
import { authorization } from '../shared/session.js';
import { withoutTag } from './api.js';
import { copyButton } from './copy-button.js';

/** @import { Header } from '../shared/exchange.js' */
/** @import { Api, Sent } from './api.js' */

/**
 * The bar with the latest request, and the panel with its details and the requests before it.
 *
 * @typedef {object} PanelState
 * @property {boolean} isOpen
 * @property {boolean} isKeyShown
 * @property {number | undefined} selected number of an exchange; undefined for the latest
 */

/**
 * @param {Api} api
 * @param {string} key
 * @param {PanelState} state
 * @param {(changes: Partial<PanelState>) => void} change
 */
export function requestPanel(api, key, state, change) {
  const { history } = api;
  const { isOpen, isKeyShown, selected } = state;
  const sent = history.find(({ number }) => number === selected) ?? history.at(0);
  return html`<aside class="requests ${isOpen ? 'open' : ''}" aria-label="Requests">
    <div class="request-bar">
      <button
        type="button"
        class="toggle"
        aria-expanded=${isOpen}
        aria-controls="request-details"
        @click=${() => {
          change({ isOpen: !isOpen, selected: undefined });
        }}
      >
        <span aria-hidden="true">${isOpen ? '▾' : '▴'}</span>
        <span>Request</span>
      </button>
      ${
        sent === undefined
          ? html`<span class="quiet">none yet</span>`
          : html`<code class="target" title=${sent.request.target}>GET /${sent.request.target}</code>
              ${status(sent)}
              <span class="figures">${sent.milliseconds.toFixed(0)} ms · ${sizeOf(sent)}</span>
              ${copyButton('Copy curl', () => curlLine(...partsOf(sent, key)))}`
      }
    </div>
    <div id="request-details" ?hidden=${!isOpen}>
      ${isOpen && sent !== undefined ? details(sent) : nothing}
    </div>
  </aside>`;

  /** @param {Sent} exchange */
  function details(exchange) {
    return html`<div class="request-details">
      <div class="request-main">
        <div class="code">
          <pre tabindex="0" aria-label="curl command">
${(isKeyShown ? curlLine : maskedCurlLine)(...partsOf(exchange, key))}</pre>
        </div>
        <div class="actions">
          <button
            type="button"
            @click=${() => {
              change({ selected: undefined });
              api.sendAgain(exchange.request);
            }}
          >
            Send again
          </button>
          <label class="check"
            ><input
              type="checkbox"
              .checked=${isKeyShown}
              @change=${() => {
                change({ isKeyShown: !isKeyShown });
              }}
            />
            Show the key</label
          >
          <p class="quiet">${noteOn(exchange)}</p>
        </div>
        <h2>Response headers</h2>
        ${headerList(exchange)}
      </div>
      <div class="request-history">
        <h2>Latest requests</h2>
        <ol>
          ${history.map(
            (each) =>
              html`<li>
                <button
                  type="button"
                  aria-current=${each === exchange ? 'true' : nothing}
                  @click=${() => {
                    change({ selected: each.number });
                  }}
                >
                  ${status(each)} <code>/${each.request.target}</code>
                  <span class="figures">${each.milliseconds.toFixed(0)} ms</span>
                </button>
              </li>`,
          )}
        </ol>
      </div>
    </div>`;
  }
}

/**
 * Returns the URL and the headers of a request, without the entity tag, to which the response has no body.
 * @param {Sent} exchange
 * @param {string} key
 * @returns {[url: string, headers: readonly Header[]]}
 */
function partsOf({ request: { target, headers } }, key) {
  return [new URL(target, document.baseURI).href, [authorization(key), ...withoutTag(headers)]];
}

/** @param {Sent} exchange */
function status({ status: code }) {
  if (code === 0) return html`<span class="mark bad">no response</span>`;
  const tone = code === 429 ? 'warn' : code >= 400 ? 'bad' : 'good';
  return html`<span class="mark ${tone}">${code}</span>`;
}

/** @param {Sent} exchange */
function sizeOf({ bytes, encodedBytes = NaN }) {
  const size = formatBytes(bytes);
  return Number.isNaN(encodedBytes) ? size : `${formatBytes(encodedBytes)} of ${size}`;
}

/** @param {Sent} exchange */
function headerList({ headers }) {
  if (headers.length === 0) return html`<p class="quiet">None.</p>`;
  return html`<dl class="headers">
    ${headers.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

/** @param {Sent} exchange */
function noteOn({ status: code, request }) {
  if (code === 304)
    return 'The entity tag is still valid: the records in view are current, and none were sent.';
  return request.headers.some(([name]) => name === 'If-None-Match') ? 'The records had changed.' : '';
}

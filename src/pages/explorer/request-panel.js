import { html, nothing } from 'lit-html';
import { formatBytes } from '../shared/format.js';
import { curlLine, maskedCurlLine } from '../shared/curl.js';
import { copyButton } from './copy.js';

/** @import { Headers } from '../shared/curl.js' */
/** @import { Api } from './api.js' */
/** @import { Exchange } from './exchange.js' */

/**
 * The bar with the latest request, and the panel with its details and the requests before it.
 *
 * @typedef {object} PanelState
 * @property {boolean} isOpen
 * @property {boolean} isKeyShown
 * @property {number | undefined} selected number of an exchange; undefined for the latest
 */

/** Reason phrases of the statuses that the API uses. HTTP/2 does not transfer them. */
const REASONS = /** @type {Readonly<Record<number, string>>} */ ({
  200: 'OK',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
});

/**
 * @param {Api} api
 * @param {string} key
 * @param {PanelState} state
 * @param {(changes: Partial<PanelState>) => void} change
 */
export function requestPanel(api, key, state, change) {
  const { history } = api;
  const exchange = history.find(({ number }) => number === state.selected) ?? history.at(0);
  const toggle = () => {
    change({ isOpen: !state.isOpen, selected: undefined });
  };
  return html`<aside class="requests ${state.isOpen ? 'open' : ''}" aria-label="Requests">
    <div class="request-bar">
      <button
        type="button"
        class="toggle"
        aria-expanded=${state.isOpen}
        aria-controls="request-details"
        @click=${toggle}
      >
        <svg class="chevron" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
          <path d="M2 8l4-4 4 4" />
        </svg>
        <span>Request</span>
      </button>
      ${exchange === undefined ? html`<span class="quiet">none yet</span>` : summary(exchange)}
      ${exchange === undefined ? nothing : copyButton('Copy curl', () => curlLine(...sent(exchange, key)))}
    </div>
    <div id="request-details" ?hidden=${!state.isOpen}>
      ${exchange === undefined || !state.isOpen ? nothing : details(api, exchange, key, state, change)}
    </div>
  </aside>`;
}

/**
 * Returns the URL and the headers of a request as it was sent.
 * @param {Exchange} exchange
 * @param {string} key
 * @returns {[url: string, headers: Headers]}
 */
function sent({ request }, key) {
  const url = new URL(request.target, document.baseURI).href;
  return [url, [['Authorization', `Bearer ${key}`], ...request.headers]];
}

/** @param {Exchange} exchange */
function summary(exchange) {
  return html`<code class="target" title=${exchange.request.target}>GET /${exchange.request.target}</code>
    ${status(exchange)}
    <span class="figures">${exchange.milliseconds.toFixed(0)} ms · ${sizeOf(exchange)}</span>`;
}

/** @param {Exchange} exchange */
function status({ status: code }) {
  if (code === undefined) return html`<span class="mark bad">no response</span>`;
  const tone = code >= 400 ? (code === 429 ? 'warn' : 'bad') : 'good';
  return html`<span class="mark ${tone}">${code} <span class="reason">${REASONS[code] ?? ''}</span></span>`;
}

/** @param {Exchange} exchange */
function sizeOf({ bytes, encodedBytes }) {
  const size = formatBytes(bytes);
  return encodedBytes === undefined || Number.isNaN(encodedBytes)
    ? size
    : `${formatBytes(encodedBytes)} of ${size}`;
}

/**
 * @param {Api} api
 * @param {Exchange} exchange
 * @param {string} key
 * @param {PanelState} state
 * @param {(changes: Partial<PanelState>) => void} change
 */
function details(api, exchange, key, state, change) {
  const { request, headers } = exchange;
  const command = sent(exchange, key);
  const again = () => {
    const unconditional = request.headers.filter(([name]) => name !== 'If-None-Match');
    change({ selected: undefined });
    api.refresh({ target: request.target, headers: unconditional });
  };
  return html`<div class="request-details">
    <div class="request-main">
      <div class="code">
        ${copyButton('Copy', () => curlLine(...command))}
        <pre tabindex="0" aria-label="curl command">
${(state.isKeyShown ? curlLine : maskedCurlLine)(...command)}</pre>
      </div>
      <div class="actions">
        <button type="button" @click=${again}>Send again</button>
        <label class="check"
          ><input
            type="checkbox"
            .checked=${state.isKeyShown}
            @change=${() => {
              change({ isKeyShown: !state.isKeyShown });
            }}
          />
          Show the key</label
        >
        <p class="quiet">${noteOn(exchange)}</p>
      </div>
      <h2>Response headers</h2>
      ${
        headers.length === 0
          ? html`<p class="quiet">None.</p>`
          : html`<dl class="headers">
              ${headers.map(
                ([name, value]) =>
                  html`<dt>${name}</dt>
                    <dd>${value}</dd>`,
              )}
            </dl>`
      }
    </div>
    <div class="request-history">
      <h2>Latest requests</h2>
      <ol>
        ${api.history.map(
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

/** @param {Exchange} exchange */
function noteOn({ status: code, request }) {
  if (code === 304) return 'The entity tag still holds: the records in view are current, and none was sent.';
  if (code === 204) return 'The page is beyond the last one.';
  if (code === undefined) return 'No response came.';
  return request.headers.some(([name]) => name === 'If-None-Match') ? 'The records had changed.' : '';
}

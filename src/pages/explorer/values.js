import { html, nothing } from 'lit-html';
import { formatDateTime } from '../shared/format.js';
import { linkTo } from './address.js';
import { permits } from './contract.js';
import { formatDistance, formatOffset, formatPrecisely, isTimestamp } from './times.js';

/** @import { Contract, Schema } from './contract.js' */

/**
 * The texts and templates of single values.
 *
 * @typedef {Readonly<Record<string, unknown>>} JsonObject
 */

/**
 * Fields that name a record of a list.
 * @type {Readonly<Record<string, string | undefined>>}
 */
const NAMED_LISTS = {
  eventId: 'events',
  ticketId: 'tickets',
  orderId: 'orders',
  offerId: 'offers',
  bundleOfferId: 'offers',
};

/** @type {Map<string, Intl.NumberFormat>} */
const moneyFormats = new Map();

/**
 * Formats an amount in a currency with all its digits: `$25.00`, `$19.999`. A code that no currency has is written as it
 * is.
 * @param {number} amount
 * @param {string} currency
 */
export function formatMoney(amount, currency) {
  if (!/^[A-Za-z]{3}$/.test(currency)) return `${amount} ${currency}`;
  let format = moneyFormats.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      maximumFractionDigits: 20,
    });
    moneyFormats.set(currency, format);
  }
  return format.format(amount);
}

/**
 * Returns the name of a record, or its id if the name is absent or blank.
 * @param {string | null} name
 * @param {string} id
 */
export function nameOr(name, id) {
  return name === null || name.trim() === '' ? id : name;
}

/** Null, and the absence of a value. */
export const absent = html`<span class="absent"
  ><span aria-hidden="true">–</span><span class="unseen">null</span></span
>`;

/**
 * Writes a sentence of the contract, with the parts between backticks as code.
 * @param {string} text
 */
export function prose(text) {
  return text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part));
}

/**
 * Writes a timestamp in its own offset, and its distance from now.
 * @param {string} text
 */
export function timestamp(text) {
  return html`<time datetime=${text} title=${titleOf(text)}>${formatPrecisely(text)}</time>
    <span class="quiet">${formatDistance(text)}</span>`;
}

/**
 * Writes a timestamp in its own offset, with the offset beside it: times of one list may have several.
 * @param {string} text
 * @param {(text: string) => string} format
 */
export function timeWithOffset(text, format) {
  return html`<time datetime=${text} title=${titleOf(text)}
    ><span>${format(text)}</span> <span class="quiet">${formatOffset(text)}</span></time
  >`;
}

/** @param {string} text */
function titleOf(text) {
  return `${text} · ${formatDateTime(text)} in your time zone`;
}

/** @param {readonly string[]} texts */
export function chips(texts) {
  if (texts.length === 0) return nothing;
  return html`<ul class="chips">
    ${texts.map((text) => html`<li class="chip">${text}</li>`)}
  </ul>`;
}

/**
 * Writes a status or type as a mark. Its text tells the state, and the color only repeats it.
 * @param {string} status
 */
export function mark(status) {
  return html`<span class="mark ${TONES.get(status) ?? ''}">${status}</span>`;
}

const TONES = new Map([
  ['FULFILLED', 'good'],
  ['PAID', 'good'],
  ['PENDING', 'warn'],
  ['CANCELLED', 'bad'],
]);

/**
 * The record around a value, for its template.
 *
 * @typedef {object} Surroundings
 * @property {Contract} contract
 * @property {string | undefined} currency of the record
 * @property {string | undefined} self id of the record, which does not link to itself
 */

/**
 * Writes a value of a record by its schema: objects as definition lists, arrays as lists.
 * @param {unknown} value
 * @param {string} name of its field
 * @param {Schema} schema
 * @param {Surroundings} around
 * @returns {unknown}
 */
export function shown(value, name, schema, around) {
  if (value === null) return absent;
  if (typeof value === 'string') return text(value, name, around);
  if (typeof value === 'boolean') return html`<code>${value}</code>`;
  if (typeof value === 'number') {
    // A number that need not be whole is an amount, except a rate.
    const isAmount = permits(schema, 'number') && !name.endsWith('Rate');
    return isAmount && around.currency !== undefined ? formatMoney(value, around.currency) : String(value);
  }
  if (isList(value)) return list(value, name, schema, around);
  return fields(/** @type {JsonObject} */ (value), schema, around);
}

/**
 * Writes an object as a definition list.
 * @param {JsonObject} object
 * @param {Schema} schema
 * @param {Surroundings} around
 */
export function fields(object, schema, around) {
  const { properties = {} } = around.contract.resolve(schema, object);
  return html`<dl class="fields">
    ${Object.entries(object).map(
      ([name, each]) =>
        html`<dt>${name}</dt>
          <dd>${shown(each, name, properties[name] ?? {}, around)}</dd>`,
    )}
  </dl>`;
}

/**
 * @param {readonly unknown[]} items
 * @param {string} name
 * @param {Schema} schema
 * @param {Surroundings} around
 */
function list(items, name, schema, around) {
  if (items.length === 0) return html`<span class="absent">none</span>`;
  const texts = items.filter((item) => typeof item === 'string');
  if (texts.length === items.length) return chips(texts);
  return html`<ol class="items">
    ${items.map((item) => html`<li>${shown(item, name, schema.items ?? {}, around)}</li>`)}
  </ol>`;
}

/**
 * @param {string} content
 * @param {string} name
 * @param {Surroundings} around
 */
function text(content, name, around) {
  if (isTimestamp(content)) return timestamp(content);
  const named = NAMED_LISTS[name];
  if (named !== undefined && content !== around.self)
    return html`<a href=${linkTo([named, content])}><code>${content}</code></a>`;
  if (/status$|^type$/i.test(name)) return mark(content);
  if (/(?:Id|qrCode)$|^id$/.test(name)) return html`<code>${content}</code>`;
  return content;
}

/**
 * @param {unknown} value
 * @returns {value is readonly unknown[]}
 */
function isList(value) {
  return Array.isArray(value);
}

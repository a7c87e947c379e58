import { html, nothing } from 'lit-html';
import { detailOf } from '../shared/session.js';
import { linkTo, queryOf } from './address.js';
import { listRequest, recordRequest } from './contract.js';

/** @import { Exchange, PageRequest } from '../shared/exchange.js' */
/** @import { Api } from './api.js' */
/** @import { Contract } from './contract.js' */
/** @import { Page } from './types.d.ts' */

/**
 * The field of all pages that finds a record by its id, a QR code, or an e-mail address.
 *
 * @typedef {readonly [request: PageRequest, link: string]} Lookup a request, and the place of what it finds
 */

/** Beginning of an API key, which is no text to search. */
const KEY = 'svc:';
/** A short prefix and digits, such as `A-5120`. */
const ORDER_NUMBER = /^[^\d_]{0,6}\d[\d\-/. ]*$/;
const NO_ORDER_NUMBERS =
  'The API has no filter for order numbers: find an order by its id, or by the e-mail address of the customer.';

/**
 * Returns the requests that may find a text.
 * @param {Contract} contract
 * @param {string} text
 * @returns {Lookup[]}
 */
export function lookupsOf(contract, text) {
  /**
   * @param {string} name
   * @param {string} filter
   * @returns {Lookup}
   */
  const byFilter = (name, filter) => [
    listRequest(contract.list(name), [], [[filter, text]]),
    linkTo([name], queryOf([[filter, text]])),
  ];
  if (text.includes('@')) return [byFilter('orders', 'email')];
  const byId = contract.organizationLists.map(
    (list) => /** @type {Lookup} */ ([recordRequest(list, text), linkTo([list.name, text])]),
  );
  // A filter takes a comma for the end of a value.
  return text.includes(',') ? byId : [...byId, byFilter('tickets', 'qrCodes')];
}

/**
 * Tells why nothing was found.
 * @param {string} text
 */
export function adviceOn(text) {
  if (text.includes('@')) return 'No order has this e-mail address.';
  return `No record has this id or QR code. ${ORDER_NUMBER.test(text) ? NO_ORDER_NUMBERS : ''}`;
}

/**
 * Shows the field. Its text is in no place but the requests, and the address of a list that it opens.
 * @param {Api} api
 * @param {Contract | undefined} contract
 * @param {unknown} outcome
 * @param {(outcome: unknown) => void} tell
 */
export function findForm(api, contract, outcome, tell) {
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const field = fieldIn(event.currentTarget);
    const text = field?.value.trim() ?? '';
    // The next text replaces it, such as that of a scanner.
    field?.select();
    if (text !== '' && contract !== undefined) void find(api, contract, text, tell);
  };
  return html`<form class="find" role="search" novalidate autocomplete="off" @submit=${submit}>
    <input
      name="find"
      type="search"
      aria-label="Find by id, QR code or e-mail address"
      aria-keyshortcuts="/"
      placeholder="Find id, QR code, e-mail (/)"
      spellcheck="false"
      @input=${() => {
        tell(nothing);
      }}
      autocapitalize="off"
    />
    <p role="status">${outcome}</p>
  </form>`;
}

/**
 * Moves the focus to the field when `/` is pressed outside of a field.
 * @param {KeyboardEvent} event
 */
export function findByKeyboard(event) {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== '/' || ctrlKey || metaKey || altKey) return;
  if (target instanceof Element && target.closest('input, select, textarea') !== null) return;
  const field = fieldIn(document.querySelector('.find'));
  if (field === undefined) return;
  event.preventDefault();
  field.focus();
}

/** @param {EventTarget | null} form */
function fieldIn(form) {
  return form instanceof HTMLFormElement ? (form.querySelector('input') ?? undefined) : undefined;
}

/**
 * Searches a text, and goes to the place that it finds, or tells of several.
 * @param {Api} api
 * @param {Contract} contract
 * @param {string} text
 * @param {(outcome: unknown) => void} tell
 */
async function find(api, contract, text, tell) {
  if (text.startsWith(KEY)) {
    tell('This is an API key, which is not searched.');
    return;
  }
  tell('Searching …');
  const wait = () => {
    tell('The API asks to wait. The search goes on then.');
  };
  const { leaving } = api;
  const lookups = lookupsOf(contract, text);
  try {
    const exchanges = await Promise.all(
      lookups.map(([request]) => api.send({ ...request, isAside: true }, leaving, wait)),
    );
    const failed = exchanges.find(({ status }) => ![200, 400, 404].includes(status));
    const links = lookups.flatMap(([, link], i) => linkOf(exchanges[i], link) ?? []);
    // A page is drawn for its address, which changes first.
    if (links.length === 1 && links[0] !== location.hash) location.hash = links[0];
    else if (failed !== undefined) tell(detailOf(failed));
    else if (links.length === 0) tell(adviceOn(text));
    else tell(html`Found: ${links.map((link) => html`<a href=${link}>${link.slice(2)}</a> `)}`);
  } catch (error) {
    if (!leaving.aborted) throw error;
  }
}

/**
 * Returns the place of what was found, if anything. A record begins with its id.
 * @param {Exchange} exchange
 * @param {string} link of a record, or of a list
 */
function linkOf({ status, body }, link) {
  if (status !== 200) return undefined;
  const { items } = /** @type {Partial<Page>} */ (body ?? { items: [] });
  if (items?.length !== 1) return items?.length === 0 ? undefined : link;
  return `${link.split('?')[0]}/${encodeURIComponent(String(Object.values(items[0])[0]))}`;
}

import { html, nothing, render } from 'lit-html';
import { send } from '../shared/exchange.js';
import {
  canBeSent,
  forgetKey,
  keepKey,
  KEY_TEST,
  MALFORMED,
  organizationOf,
  refusalOf,
  sharedKey,
  takeGivenKey,
} from '../shared/session.js';
import '../shared/time-chart.js';
import { linkTo, routeOf } from './address.js';
import { Api } from './api.js';
import { Contract } from './contract.js';
import { Downloads, downloadView } from './download.js';
import { eventView, readEvent } from './event-view.js';
import { findByKeyboard, findForm } from './find.js';
import { listView, readList } from './list-view.js';
import { readRecord, recordView } from './record-view.js';
import { requestPanel } from './request-panel.js';
import { empty, pageHeader } from './states.js';
import { nameOr, prose } from './values.js';

/** @import { List, OpenApi } from './contract.js' */
/** @import { PanelState } from './request-panel.js' */
/** @import { Measure } from './sales.js' */
/** @import { Offer, Order, Place, Readings, Ticket } from './types.d.ts' */

/**
 * The explorer. The page is drawn from its state: the key of the tab, the place in the address, and the answers of the
 * API. Entering a place, and actions of the user, send the requests.
 */

const OPEN_API = 'openapi.json';
const START = 'events';
const NAME = 'Foyer explorer';
/** State of an entry in the history, which a new one does not have. */
const VISITED = 'visited';

const root = document.querySelector('#explorer');
if (!(root instanceof HTMLElement)) throw new Error('the document has no element #explorer');

/** @type {Contract | undefined} */
let contract;
/** @type {string | undefined} */
let contractFailure;
/** @type {{ key: string, api: Api } | undefined} */
let session;
/** The place that is entered. The address changes before, and the page may be drawn in between. */
let route = routeOf(location.hash);
/** @type {Readings} */
let readings = {};
/** @type {Measure} */
let measure = 'total';
/** @type {{ refusal?: string, isTrying: boolean }} */
let attempt = { isTrying: false };
const downloads = new Downloads(draw);
/** @type {unknown} */
let findOutcome = nothing;
/** @type {PanelState} */
let panel = { isOpen: false, isKeyShown: false, selected: undefined };
let isDrawing = false;
/** Whether the heading of a new page, or the field for the key, is still to get the focus. Some come with an answer. */
let isFocusDue = false;
/**
 * Scroll positions of the places that were left, by their address.
 * @type {Map<string, number>}
 */
const positions = new Map();
/**
 * The position to which the page is still to scroll. Some pages have their height only with their answers.
 * @type {number | undefined}
 */
let positionDue;

/** Draws the page, once for all changes of a turn. */
function draw() {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    render(page(), /** @type {HTMLElement} */ (root));
    if (isFocusDue && takeFocus()) isFocusDue = false;
    scrollToDue();
  });
}

function scrollToDue() {
  if (positionDue === undefined) return;
  scrollTo(0, positionDue);
  if (positionDue === 0 || document.querySelector('main .skeleton') === null) positionDue = undefined;
}

function page() {
  if (session === undefined) return signIn();
  const { key, api } = session;
  return html`
    <a class="skip" href=${location.hash} @click=${skipToContent}>Skip to the content</a>
    ${topBar(api, organizationOf(key))}
    <main id="main">${downloadView(downloads)} ${content(api)}</main>
    ${requestPanel(api, key, panel, (changes) => {
      panel = { ...panel, ...changes };
      draw();
    })}
  `;
}

/** @param {Event} event */
function skipToContent(event) {
  event.preventDefault();
  takeFocus();
}

/**
 * @param {Api} api
 * @param {string} organization
 */
function topBar(api, organization) {
  const [current] = route.segments;
  return html`<header class="top">
    <div class="top-content">
      <a class="product" href=${linkTo([START])}
        ><img src="shared/icon.svg" alt="" width="28" height="28" />Foyer</a
      >
      <nav aria-label="Lists">
        <ul>
          ${contract?.organizationLists.map(
            ({ name }) =>
              html`<li>
                <a href=${linkTo([name])} aria-current=${name === current ? 'page' : nothing}
                  >${titleOf(name)}</a
                >
              </li>`,
          )}
        </ul>
      </nav>
      ${findForm(api, contract, findOutcome, (outcome) => {
        findOutcome = outcome;
        draw();
      })}
      <div class="account">
        <a href="docs">API docs</a>
        <a href="docs/guide">Guide</a>
        <span class="organization" title="Organization of the key">${organization}</span>
        <button type="button" @click=${signOut}>Sign out</button>
      </div>
    </div>
  </header>`;
}

/** @param {Api} api */
function content(api) {
  if (contractFailure !== undefined)
    return html`<div class="notice bad" role="alert"><p>${contractFailure}</p></div>`;
  if (contract === undefined) return nothing;
  const place = { api, contract, route, readings, downloads };
  const [name] = place.route.segments;
  const id = place.route.segments.at(1);
  const list = listAt(contract, name);
  if (list === undefined)
    return html`${pageHeader('Not found')}
    ${empty('There is no such place.', html`<a href=${linkTo([START])}>Go to the events</a>`)}`;
  if (id === undefined) return html`${listHeader(list)} ${listView(place, { list })}`;
  if (name !== START)
    return html`${recordHeader(list, id, readings.record?.answer?.body)} ${recordView(place, list, id)}`;
  return eventView(place, list, {
    measure,
    select: (selected) => {
      measure = selected;
      draw();
    },
  });
}

/**
 * @param {Contract} of
 * @param {string | undefined} name
 */
function listAt({ organizationLists }, name) {
  return organizationLists.find((each) => each.name === name);
}

/** @param {List} list */
function listHeader({ name, description, isPreview }) {
  const preview = isPreview ? html`<span class="mark">preview</span>` : nothing;
  return pageHeader(html`${titleOf(name)} ${preview}`, prose(description));
}

/**
 * Names a record as lists do.
 * @param {List} list
 * @param {string} id
 * @param {unknown} body the record, if it is known yet
 */
function recordHeader({ name }, id, body) {
  const { orderNumber, offerName, name: offer } = /** @type {Partial<Order & Ticket & Offer>} */ (body ?? {});
  const title = nameOr(orderNumber ?? offerName ?? offer ?? null, id);
  return pageHeader(
    title === id ? html`<code>${id}</code>` : title,
    html`<a href=${linkTo([name])}>${titleOf(name)}</a>`,
  );
}

/** @param {string} name */
function titleOf(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The form in which a visitor gives a key. */
function signIn() {
  const { refusal, isTrying } = attempt;
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const input = document.getElementById('key');
    if (input instanceof HTMLInputElement) void tryKey(input.value.trim(), true);
  };
  return html`<main class="sign-in" id="main">
    <img src="shared/icon.svg" alt="" width="56" height="56" />
    <h1>Foyer explorer</h1>
    <p class="quiet">
      See the events, tickets, orders and offers of an organization as the API returns them, and the request
      behind each view.
    </p>
    <form class="panel" novalidate @submit=${submit}>
      <div class="field ${refusal === undefined ? '' : 'invalid'}">
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck="false"
          placeholder="svc:o:ORGANIZATION:SECRET"
          aria-describedby="key-hint${refusal === undefined ? '' : ' key-refusal'}"
          aria-invalid=${refusal !== undefined}
        />
        ${refusal === undefined ? nothing : html`<p class="violation" id="key-refusal" role="alert">${refusal}</p>`}
        <p class="hint" id="key-hint">Kept in the tabs of Foyer, until they are closed or you sign out.</p>
      </div>
      <button class="primary" ?disabled=${isTrying}>${isTrying ? 'Signing in …' : 'Sign in'}</button>
    </form>
  </main>`;
}

/**
 * Signs in if the API accepts a key.
 * @param {string} key
 * @param {boolean} isFromForm whether the focus was in the form, and moves to the heading
 */
async function tryKey(key, isFromForm) {
  attempt = canBeSent(key) ? { isTrying: true } : { isTrying: false, refusal: MALFORMED };
  draw();
  if (!attempt.isTrying) return;
  const api = new Api(key, draw);
  const outcome = await api.send(KEY_TEST, api.leaving, () => {
    attempt = { isTrying: true, refusal: 'The API asks to wait. The key is tried again then.' };
  });
  if (outcome.status === 200) {
    keepKey(key);
    downloads.forget();
    session = { key, api };
    attempt = { isTrying: false };
    isFocusDue = isFromForm;
    enterPlace();
  } else {
    attempt = { isTrying: false, refusal: refusalOf(outcome) };
    isFocusDue = true;
  }
  draw();
}

function signOut() {
  downloads.forget();
  session?.api.leave();
  session = undefined;
  panel = { isOpen: false, isKeyShown: false, selected: undefined };
  forgetKey();
  isFocusDue = true;
  draw();
}

/** Ends the requests of the place that is left, and sends those of the place in the address. */
function enterPlace() {
  session?.api.leave();
  readings = {};
  findOutcome = nothing;
  if (routeOf(location.hash).segments.length === 0 && session !== undefined)
    history.replaceState(history.state, '', linkTo([START]));
  route = routeOf(location.hash);
  document.title = [...route.segments, NAME].join(' · ');
  if (session !== undefined && contract !== undefined)
    read({ api: session.api, contract, route, readings, downloads });
  draw();
}

/** @param {Place} place */
function read(place) {
  const [name] = place.route.segments;
  const id = place.route.segments.at(1);
  const list = listAt(place.contract, name);
  if (list === undefined) return;
  if (id === undefined) readList(place, { list });
  else if (name === START) void readEvent(place, list);
  else readRecord(place, list, id);
}

/**
 * Returns the page of an address: its list or record, without its part and query.
 * @param {string} url
 */
function pageOf(url) {
  return linkTo(routeOf(new URL(url).hash).segments.slice(0, 2));
}

/**
 * Moves the focus to the heading, as a browser does for a new page, or to the field for the key, and scrolls menus that
 * are wider than the screen.
 * @returns whether there is one
 */
function takeFocus() {
  const target = document.querySelector(session === undefined ? '#key' : 'main h1');
  if (!(target instanceof HTMLElement)) return false;
  target.focus();
  for (const link of document.querySelectorAll('nav [aria-current]'))
    link.scrollIntoView({ block: 'nearest', inline: 'center' });
  return true;
}

/** Brings the records into view after a step within a page, and gives them a focus that was lost. */
function showResults() {
  const results = document.querySelector('.results');
  if (!(results instanceof HTMLElement)) return;
  if (document.activeElement === document.body) results.focus({ preventScroll: true });
  if (results.getBoundingClientRect().top < 0) results.scrollIntoView();
}

addEventListener('hashchange', ({ oldURL, newURL }) => {
  const key = takeGivenKey();
  if (key !== undefined) {
    session?.api.leave();
    session = undefined;
    void tryKey(key, false);
  }
  const isSamePage = pageOf(oldURL) === pageOf(newURL);
  isFocusDue = !isSamePage;
  positions.set(oldURL, scrollY);
  const isNew = history.state === null;
  if (isNew) history.replaceState(VISITED, '');
  const start = isSamePage ? undefined : 0;
  positionDue = isNew ? start : positions.get(newURL);
  enterPlace();
  // Runs when the page is drawn.
  queueMicrotask(() => {
    for (const form of document.forms) form.reset();
    if (isNew && isSamePage) showResults();
  });
});
// The browser restores a position before the content is drawn to which it belongs, so that the page does it.
history.scrollRestoration = 'manual';
history.replaceState(VISITED, '');
addEventListener('keydown', findByKeyboard);
// A wait or a download is under way.
setInterval(() => {
  if (document.querySelector('.countdown, .notice progress') !== null) draw();
}, 1000);
// Distances from now grow.
setInterval(draw, 60_000);

const given = takeGivenKey();
const stored = await sharedKey(signOut);
isFocusDue = given === undefined && stored === undefined;
if (given !== undefined) void tryKey(given, false);
else if (stored !== undefined) session = { key: stored, api: new Api(stored, draw) };
draw();
const { status, body } = await send({ target: OPEN_API, headers: [] });
if (status === 200 && body !== undefined) contract = new Contract(/** @type {OpenApi} */ (body));
else
  contractFailure = `The explorer cannot read the contract of the API: ${OPEN_API} has the status ${status}.`;
enterPlace();

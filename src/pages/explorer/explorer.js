import { html, nothing, render } from 'lit-html';
import { KEY_TEST, MALFORMED, refusalOf } from '../shared/outcomes.js';
import {
  canBeSent,
  forgetKey,
  handedOverKey,
  keepKey,
  organizationOf,
  storedKey,
} from '../shared/session.js';
import { Api } from './api.js';
import { Contract } from './contract.js';
import { eventCards } from './events-view.js';
import { eventView } from './event-view.js';
import { focusHeading, pageOf, showResults } from './focus.js';
import { listView } from './list-view.js';
import { recordView } from './record-view.js';
import { requestPanel } from './request-panel.js';
import { linkTo, routeOf } from './route.js';
import { signIn } from './sign-in.js';
import { empty, pageHeader } from './states.js';
import { prose } from './values.js';
import { Walks } from './walks.js';

/** @import { List, OpenApi } from './contract.js' */
/** @import { Place } from './list-view.js' */
/** @import { SalesTally } from './sales.js' */
/** @import { Measure } from './sales-view.js' */
/** @import { Collected } from './walks.js' */
/** @import { PanelState } from './request-panel.js' */

/**
 * The explorer. Its state is the key of the tab, the place in the address, and the readings of the API; a change of any
 * of them draws the page anew.
 */

const OPEN_API = 'openapi.json';
const START = 'events';
const NAME = 'Foyer explorer';

const root = document.querySelector('#explorer');
if (!(root instanceof HTMLElement)) throw new Error('the document has no element #explorer');

/** @type {Contract | undefined} */
let contract;
/** @type {string | undefined} */
let contractFailure;
/**
 * @typedef {object} Session
 * @property {string} key
 * @property {Api} api
 * @property {Walks<SalesTally>} sales
 * @property {Walks<Collected>} collected
 */
/** @type {Session | undefined} */
let session;
/** @type {Measure} */
let measure = 'total';
/** @type {{ refusal: string | undefined, isTrying: boolean }} */
let attempt = { refusal: undefined, isTrying: false };
/** @type {PanelState} */
let panel = { isOpen: false, isKeyShown: false, selected: undefined };
let isDrawing = false;
/** Whether the heading of a new page is still to get the focus. Some pages have it only with their answer. */
let isHeadingDue = false;

/** Draws the page, once for all changes of a turn. */
function draw() {
  if (isDrawing) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    render(page(), /** @type {HTMLElement} */ (root));
    if (isHeadingDue && focusHeading()) isHeadingDue = false;
  });
}

function page() {
  if (session === undefined) return signIn({ ...attempt, signIn: (key) => void tryKey(key, true) });
  const { key, api } = session;
  /** @param {Partial<PanelState>} changes */
  const change = (changes) => {
    panel = { ...panel, ...changes };
    draw();
  };
  return html`
    <a class="skip" href=${location.hash} @click=${skipToContent}>Skip to the content</a>
    ${topBar(organizationOf(key))}
    <main id="main">${content(session)}</main>
    ${requestPanel(api, key, panel, change)}
  `;
}

/** @param {Event} event */
function skipToContent(event) {
  event.preventDefault();
  focusHeading();
}

/** @param {string} organization */
function topBar(organization) {
  const [current] = routeOf(location.hash).segments;
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
      <div class="account">
        <a href="docs">API docs</a>
        <span class="organization" title="Organization of the key">${organization}</span>
        <button type="button" @click=${signOut}>Sign out</button>
      </div>
    </div>
  </header>`;
}

/** @param {Session} session */
function content({ api, sales, collected }) {
  if (contractFailure !== undefined)
    return html`<div class="notice bad" role="alert"><p>${contractFailure}</p></div>`;
  if (contract === undefined) return nothing;
  const route = routeOf(location.hash);
  const [name] = route.segments;
  const id = route.segments.at(1);
  const list = contract.organizationLists.find((each) => each.name === name);
  if (list === undefined)
    return html`${pageHeader('Not found')}
    ${empty('There is no such place.', html`<a href=${linkTo([START])}>Go to the events</a>`)}`;
  const place = { api, contract, route };
  if (id === undefined) return listPage(place, list);
  if (name === START) {
    /** @param {Measure} selected */
    const select = (selected) => {
      measure = selected;
      draw();
    };
    return eventView({ ...place, sales, collected, measure, select }, list, id, route.segments.at(2));
  }
  return recordPage(place, list, id);
}

/**
 * @param {Place} place
 * @param {List} list
 */
function listPage(place, list) {
  return html`<header class="page-header">
      <h1 tabindex="-1">
        ${titleOf(list.name)} ${list.isPreview ? html`<span class="mark">preview</span>` : nothing}
      </h1>
      <p class="quiet">${prose(list.description)}</p>
    </header>
    ${list.name === START ? listView(place, list, { show: eventCards }) : listView(place, list)}`;
}

/**
 * @param {Place} place
 * @param {List} list
 * @param {string} id
 */
function recordPage(place, list, id) {
  return html`<header class="page-header">
      <p class="path"><a href=${linkTo([list.name])}>${titleOf(list.name)}</a></p>
      <h1 tabindex="-1"><code>${id}</code></h1>
    </header>
    ${recordView(place, list, id)}`;
}

/** @param {string} name */
function titleOf(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * Signs in if the API accepts a key, which the first page of events shows.
 * @param {string} key
 * @param {boolean} isFromForm whether the focus was in the form, and goes to the heading
 */
async function tryKey(key, isFromForm) {
  if (!canBeSent(key)) {
    attempt = { refusal: MALFORMED, isTrying: false };
    draw();
    return;
  }
  attempt = { refusal: undefined, isTrying: true };
  draw();
  const api = new Api(key, draw);
  const outcome = await api.send({ target: KEY_TEST, headers: [] }, api.leaving, () => {
    attempt = { refusal: 'The API asks to wait; the key is then tried again.', isTrying: true };
  });
  if (outcome.status === 200) {
    keepKey(key);
    session = sessionOf(key, api);
    attempt = { refusal: undefined, isTrying: false };
    isHeadingDue = isFromForm;
    enterPlace();
  } else {
    attempt = { refusal: refusalOf(outcome.status, outcome.body), isTrying: false };
  }
  draw();
}

/**
 * @param {string} key
 * @param {Api} api
 * @returns {Session}
 */
function sessionOf(key, api) {
  return { key, api, sales: new Walks(api), collected: new Walks(api) };
}

function signOut() {
  session?.api.leave();
  session = undefined;
  panel = { isOpen: false, isKeyShown: false, selected: undefined };
  forgetKey();
  draw();
}

function enterPlace() {
  session?.api.leave();
  if (routeOf(location.hash).segments.length === 0 && session !== undefined)
    history.replaceState(null, '', linkTo([START]));
  document.title = [...routeOf(location.hash).segments, NAME].join(' · ');
  draw();
}

async function loadContract() {
  const response = await fetch(OPEN_API);
  if (!response.ok) throw new Error(`${OPEN_API}: status ${response.status}`);
  /** @type {unknown} */
  const document = await response.json();
  contract = new Contract(/** @type {OpenApi} */ (document));
}

addEventListener('hashchange', ({ oldURL, newURL }) => {
  const key = handedOverKey();
  if (key !== undefined) {
    session?.api.leave();
    session = undefined;
    void tryKey(key, false);
  }
  isHeadingDue = pageOf(oldURL) !== pageOf(newURL);
  enterPlace();
  // Runs when the page is drawn.
  queueMicrotask(() => {
    for (const form of document.forms) form.reset();
    if (pageOf(oldURL) === pageOf(newURL)) showResults();
    else scrollTo(0, 0);
  });
});
// A countdown is in view only while a request waits.
setInterval(() => {
  if (document.querySelector('.countdown') !== null) draw();
}, 1000);

const given = handedOverKey();
const stored = storedKey();
if (given !== undefined) void tryKey(given, false);
else if (stored !== undefined) session = sessionOf(stored, new Api(stored, draw));
enterPlace();
try {
  await loadContract();
} catch (error) {
  contractFailure = `The explorer cannot read the contract of the API. ${String(error)}`;
}
draw();

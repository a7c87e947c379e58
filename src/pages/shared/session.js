/**
 * The API key of a tab, `svc:o:<organization_id>:<api_key>`, which the explorer and the documentation share.
 * `sessionStorage` ends with the tab. No server sees it, and other tabs of the same service get it from an open one.
 */

/** @import { Exchange } from './exchange.js' */

const STORED_KEY = 'foyer-key';
/** Fragment with a key, as in the address that the demo prints. Browsers never send a fragment. */
const GIVEN_KEY = /^#key=(.+)$/;

/** Time within which other tabs answer, in milliseconds. */
const ANSWER_MS = 200;
/** Connects the tabs of this service, once `sharedKey` is called. @type {BroadcastChannel | undefined} */
let tabs;

/** Request that tells whether a key is valid. */
export const KEY_TEST = { target: 'v1/events?perPage=1', headers: [] };

export const MALFORMED = 'This is not an API key. A key has the form svc:o:ORGANIZATION:SECRET.';
export const UNREACHABLE = 'The server cannot be reached: the network is down, or the replica has stopped.';

export function storedKey() {
  return sessionStorage.getItem(STORED_KEY) ?? undefined;
}

/** @param {string} key */
export function keepKey(key) {
  sessionStorage.setItem(STORED_KEY, key);
}

/** Forgets the key, in all tabs that have it. */
export function forgetKey() {
  tabs?.postMessage({ kind: 'forgotten', key: storedKey() });
  sessionStorage.removeItem(STORED_KEY);
}

/**
 * Returns the key of this tab or, if there is none, that of the open tabs, unless they have several. Answers tabs that
 * ask from then on.
 * @param {() => void} forget called when another tab forgets the key of this one
 * @param {string} base of the service, relative to the page
 */
export async function sharedKey(forget, base = '.') {
  const others = new BroadcastChannel(new URL(base, location.href).href);
  /** @type {Set<string>} */
  const keys = new Set();
  /** @param {MessageEvent<{ kind: 'question' | 'answer' | 'forgotten', key: string }>} message */
  const take = ({ data: { kind, key } }) => {
    const own = storedKey();
    if (kind === 'answer') keys.add(key);
    else if (kind === 'question' && own !== undefined) others.postMessage({ kind: 'answer', key: own });
    else if (kind === 'forgotten' && key === own) forget();
  };
  others.addEventListener('message', take);
  tabs = others;
  if (storedKey() === undefined) {
    others.postMessage({ kind: 'question' });
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    const [key] = keys;
    if (keys.size === 1 && storedKey() === undefined) keepKey(key);
  }
  return storedKey();
}

/** Returns a key in the address, and removes it from the address and the history of the tab. */
export function takeGivenKey() {
  const given = GIVEN_KEY.exec(location.hash)?.[1];
  if (given === undefined) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  try {
    return decodeURIComponent(given);
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a header can carry a key.
 * @param {string} key
 */
export function canBeSent(key) {
  return /^[\x20-\x7E\xA0-\xFF]*$/.test(key);
}

/**
 * @param {string} key
 * @returns {readonly [name: string, value: string]}
 */
export function authorization(key) {
  return ['Authorization', `Bearer ${key}`];
}

/**
 * Tells why the API refused a key. It tells an unknown key from an expired and a revoked one.
 * @param {Pick<Exchange, 'status' | 'body'>} outcome
 */
export function refusalOf(outcome) {
  return outcome.status === 400 ? MALFORMED : detailOf(outcome);
}

/**
 * Tells why a request failed.
 * @param {Pick<Exchange, 'status' | 'body'>} outcome
 */
export function detailOf({ status, body }) {
  if (status === 0) return UNREACHABLE;
  const { detail } = /** @type {{ detail?: string }} */ (body ?? {});
  return detail ?? `The response has status ${status} and no detail.`;
}

/** @param {string} key */
export function organizationOf(key) {
  return key.split(':')[2] ?? '';
}

/**
 * Hides the secret of a key: `svc:o:blue-heron-hall:••••••••`.
 * @param {string} key
 */
export function masked(key) {
  const parts = key.split(':');
  return parts.length < 4 ? '••••••••' : [...parts.slice(0, 3), '••••••••'].join(':');
}

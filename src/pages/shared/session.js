/**
 * The API key of a tab, `svc:o:<organization_id>:<api_key>`, which the explorer and the documentation share.
 * `sessionStorage` ends with the tab, and no other tab or server sees it.
 */

/** @import { Exchange } from './exchange.js' */

const STORED_KEY = 'foyer-key';
/** Fragment with a key, as in the address that the demo prints. Browsers never send a fragment. */
const GIVEN_KEY = /^#key=(.+)$/;

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

export function forgetKey() {
  sessionStorage.removeItem(STORED_KEY);
}

/** Returns a key in the address, and removes it from the address and the history of the tab. */
export function takeGivenKey() {
  const given = GIVEN_KEY.exec(location.hash)?.[1];
  if (given === undefined) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
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
  if (outcome.status === 0) return UNREACHABLE;
  return outcome.status === 400 ? MALFORMED : detailOf(outcome);
}

/** @param {Pick<Exchange, 'status' | 'body'>} outcome */
export function detailOf({ status, body }) {
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

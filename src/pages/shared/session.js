/**
 * The key of a session, kept in the tab alone: `sessionStorage` ends with it, and no other tab or server sees it. The
 * explorer and the documentation share it.
 */

const STORED_KEY = 'foyer-key';
/** Hash that hands a key over, as the demo prints it. Browsers never send a hash. */
const HANDED_OVER = /^#key=(.+)$/;

/** Returns the key of the tab, `svc:o:<organization_id>:<api_key>`. */
export function storedKey() {
  return sessionStorage.getItem(STORED_KEY) ?? undefined;
}

/** Returns a key in the address, and removes it from the address and the history of the tab. */
export function handedOverKey() {
  const handedOver = HANDED_OVER.exec(location.hash)?.[1];
  if (handedOver === undefined) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return decoded(handedOver);
}

/**
 * Returns undefined for broken encoding.
 * @param {string} text
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
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

/** @param {string} key */
export function keepKey(key) {
  sessionStorage.setItem(STORED_KEY, key);
}

export function forgetKey() {
  sessionStorage.removeItem(STORED_KEY);
}

/**
 * Returns the organization that a key names.
 * @param {string} key
 */
export function organizationOf(key) {
  return key.split(':')[2] ?? '';
}

/**
 * Returns a key with its secret hidden: `svc:o:blue-heron-hall:••••••••`.
 * @param {string} key
 */
export function masked(key) {
  const parts = key.split(':');
  return parts.length < 4 ? '••••••••' : [...parts.slice(0, 3), '••••••••'].join(':');
}

import { masked } from '../shared/session.js';

/** @import { ApiRequest } from './exchange.js' */

/**
 * Returns a request as a command of a POSIX shell.
 * @param {ApiRequest} request
 * @param {string} base address to which the target is relative
 * @param {string} key
 */
export function curlLine({ target, headers }, base, key) {
  const options = [['Authorization', `Bearer ${key}`], ...headers].map(
    ([name, value]) => `-H ${quoted(`${name}: ${value}`)}`,
  );
  return [`curl -sS ${quoted(new URL(target, base).href)}`, ...options].join(' \\\n  ');
}

/**
 * Returns the command as it is shown, with the secret of the key hidden.
 * @param {ApiRequest} request
 * @param {string} base
 * @param {string} key
 */
export function maskedCurlLine(request, base, key) {
  return curlLine(request, base, masked(key));
}

/**
 * Quotes a text for a POSIX shell.
 * @param {string} text
 */
export function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

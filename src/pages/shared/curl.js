import { masked } from './session.js';

/** @typedef {readonly (readonly [name: string, value: string])[]} Headers */

/**
 * Returns a request as a command of a POSIX shell.
 * @param {string} url
 * @param {Headers} headers
 */
export function curlLine(url, headers) {
  const options = headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl -sS ${quoted(url)}`, ...options].join(' \\\n  ');
}

/**
 * Returns the command as it is shown, with the secret of the key hidden.
 * @param {string} url
 * @param {Headers} headers
 */
export function maskedCurlLine(url, headers) {
  return curlLine(
    url,
    headers.map(([name, value]) => [
      name,
      name === 'Authorization' ? `Bearer ${masked(value.slice('Bearer '.length))}` : value,
    ]),
  );
}

/**
 * Quotes a text for a POSIX shell.
 * @param {string} text
 */
export function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

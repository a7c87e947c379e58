import { masked } from './session.js';

/** Requests as curl commands, and the clipboard. */

/** @import { Header } from './exchange.js' */

/**
 * Returns a request as a command of a POSIX shell.
 * @param {string} url
 * @param {readonly Header[]} headers
 */
export function curlLine(url, headers) {
  const options = headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl -sS ${quoted(url)}`, ...options].join(' \\\n  ');
}

/**
 * Returns the command with the secret of the key hidden.
 * @param {string} url
 * @param {readonly Header[]} headers
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

/**
 * Copies a text. Browsers permit it on HTTPS and on the local host.
 * @param {string} text
 * @returns {Promise<string>} the outcome in words
 */
export async function copy(text) {
  try {
    if (!isSecureContext) return 'Not permitted';
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch (error) {
    if (error instanceof DOMException) return 'Not permitted';
    throw error;
  }
}

/**
 * One request to the API and its outcome, with the facts that the request bar shows.
 *
 * @typedef {readonly [name: string, value: string]} Header
 *
 * @typedef {object} ApiRequest
 * @property {string} target relative to the page, encoded: `v1/tickets?perPage=100`
 * @property {readonly Header[]} headers without `Authorization`
 *
 * @typedef {object} Exchange
 * @property {number} number counts from 1 in the session
 * @property {ApiRequest} request
 * @property {number | undefined} status undefined if no response came
 * @property {number} milliseconds from the request to the end of the body
 * @property {number} bytes of the body, decoded
 * @property {number | undefined} encodedBytes of the body as it was sent, if it was compressed
 * @property {readonly Header[]} headers of the response
 * @property {unknown} body parsed JSON; undefined if there is none
 */

const COMPRESSED = 'content-encoding';

/**
 * Sends a request. A response of any status is an outcome, and so is none at all.
 * @param {ApiRequest} request
 * @param {string} key
 * @param {number} number
 * @param {AbortSignal} signal
 * @returns {Promise<Exchange>}
 * @throws {DOMException} if aborted
 */
export async function exchange(request, key, number, signal) {
  const start = performance.now();
  const headers = new Headers({ Authorization: `Bearer ${key}` });
  for (const [name, value] of request.headers) headers.set(name, value);
  try {
    // The cache of the browser would answer in place of the API, and hide a 304.
    const response = await fetch(request.target, { headers, signal, cache: 'no-store' });
    const bytes = await response.arrayBuffer();
    return {
      number,
      request,
      status: response.status,
      milliseconds: performance.now() - start,
      bytes: bytes.byteLength,
      encodedBytes: response.headers.has(COMPRESSED)
        ? Number(response.headers.get('content-length') ?? NaN)
        : undefined,
      headers: [...response.headers],
      body: parsed(new TextDecoder().decode(bytes)),
    };
  } catch (error) {
    signal.throwIfAborted();
    // `fetch` rejects with a TypeError for every failure of the network, and tells no more.
    if (!(error instanceof TypeError)) throw error;
    const milliseconds = performance.now() - start;
    return {
      number,
      request,
      status: undefined,
      milliseconds,
      bytes: 0,
      encodedBytes: undefined,
      headers: [],
      body: undefined,
    };
  }
}

/**
 * Returns a header of the response. Names are in lower case.
 * @param {Exchange} of
 * @param {string} name
 */
export function headerOf({ headers }, name) {
  return headers.find(([each]) => each === name)?.[1];
}

/**
 * Returns the JSON of a body. A proxy between may answer with something else, which counts as no body.
 * @param {string} text
 * @returns {unknown}
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The requests of all pages: one request and its outcome.
 *
 * @typedef {readonly [name: string, value: string]} Header
 *
 * @typedef {object} PageRequest
 * @property {string} target relative to the page, encoded: `v1/tickets?perPage=100`
 * @property {readonly Header[]} headers
 * @property {boolean} [isAside] whether it supplements the request of a view
 *
 * @typedef {object} Exchange
 * @property {PageRequest} request
 * @property {number} status 0 if no response came
 * @property {string} failure why no response came; empty if one came
 * @property {number} milliseconds from the request to the end of the body, or to the beginning of a stream
 * @property {number} bytes of the body, decoded; 0 of a stream
 * @property {number | undefined} encodedBytes of the body as it was sent, if it was compressed
 * @property {readonly Header[]} headers of the response
 * @property {unknown} body parsed JSON, or a stream of lines; undefined if there is none
 */

/** Media type of a stream of lines, which may be longer than memory. */
export const LINES_TYPE = 'application/x-ndjson';
const NO_RESPONSE = { status: 0, bytes: 0, encodedBytes: undefined, headers: [], body: undefined };

/**
 * Sends a request. A response of any status is an outcome, and so is none at all.
 * @param {PageRequest} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<Exchange>}
 * @throws {DOMException} if aborted
 */
export async function send(request, signal) {
  const start = performance.now();
  const elapsed = () => performance.now() - start;
  try {
    // The cache of the browser would answer in place of the server, and hide a 304.
    const response = await fetch(request.target, {
      headers: Object.fromEntries(request.headers),
      cache: 'no-store',
      signal: signal ?? null,
    });
    const { status, headers } = response;
    const isStream = headers.get('content-type') === LINES_TYPE;
    const bytes = isStream ? new ArrayBuffer() : await response.arrayBuffer();
    return {
      request,
      status,
      failure: '',
      milliseconds: elapsed(),
      bytes: bytes.byteLength,
      encodedBytes: headers.has('content-encoding')
        ? Number(headers.get('content-length') ?? NaN)
        : undefined,
      headers: [...headers],
      body: isStream ? response.body : parsed(new TextDecoder().decode(bytes)),
    };
  } catch (error) {
    signal?.throwIfAborted();
    // `fetch` rejects with a TypeError for every failure of the network.
    if (!(error instanceof TypeError)) throw error;
    return { ...NO_RESPONSE, request, failure: error.message, milliseconds: elapsed() };
  }
}

/**
 * @param {Exchange} exchange
 * @param {string} name in lower case
 */
export function headerOf({ headers }, name) {
  return headers.find(([each]) => each === name)?.[1];
}

/**
 * Parses JSON. A proxy may answer with something else, which counts as no body.
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

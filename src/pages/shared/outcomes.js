/** The outcomes of requests, and of the check of a key, in words. */

/** Path of a request that tells whether a key is valid. */
export const KEY_TEST = 'v1/events?perPage=1';

export const MALFORMED = 'This is not an API key. A key has the form svc:o:ORGANIZATION:SECRET.';
export const UNREACHABLE = 'The server cannot be reached: the network is down, or the replica has stopped.';

/**
 * Tells why a key was not accepted. The API tells an unknown key from an expired and a revoked one.
 * @param {number | undefined} status undefined if no response came
 * @param {unknown} body
 */
export function refusalOf(status, body) {
  if (status === undefined) return UNREACHABLE;
  if (status === 400) return MALFORMED;
  return detailOf(status, body);
}

/**
 * Returns the `detail` of a refusal.
 * @param {number} status
 * @param {unknown} body
 */
export function detailOf(status, body) {
  const { detail } = /** @type {{ detail?: string }} */ (body ?? {});
  return detail ?? `The response has status ${status} and no detail.`;
}

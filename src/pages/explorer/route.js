/**
 * A place in the explorer, which the hash of its address names: `#/tickets/tkt_9001`, `#/orders?status=PENDING&page=2`.
 * The query is that of the API request, so that a link carries its filters.
 *
 * @typedef {object} Route
 * @property {readonly string[]} segments decoded
 * @property {string} query without `?`, encoded
 */

/**
 * Parses the hash of an address.
 * @param {string} hash
 * @returns {Route}
 */
export function routeOf(hash) {
  const [path, ...rest] = hash.replace(/^#?\/?/, '').split('?');
  const segments = path.split('/').filter((segment) => segment !== '');
  return { segments: segments.map(decoded), query: rest.join('?') };
}

/**
 * Returns the hash of a place.
 * @param {readonly string[]} segments
 */
export function linkTo(segments, query = '') {
  const path = segments.map((segment) => encodeURIComponent(segment)).join('/');
  return query === '' ? `#/${path}` : `#/${path}?${query}`;
}

/**
 * Decodes a segment. Broken encoding, as in a mistyped address, stays as it is.
 * @param {string} segment
 */
function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

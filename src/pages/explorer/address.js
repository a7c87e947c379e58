/**
 * The places of the explorer, each named by the hash of its address: `#/tickets/tkt_9001`, `#/orders?status=PENDING`. The
 * query is that of the API request, so that a link carries its filters.
 *
 * @typedef {object} Route
 * @property {readonly string[]} segments decoded
 * @property {string} query without `?`, encoded
 *
 * @typedef {readonly [name: string, value: string]} Entry
 */

/** Parameters that continue a walk, absent for its first page. */
const FIRST_PAGE = { page: undefined, snapshot: undefined };

/** Parameters of a page and of its walk. Forms leave them to the pager and to `nextPage` links. */
export const PAGING = ['perPage', ...Object.keys(FIRST_PAGE)];

/**
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
  const path = segments.map(encodeURIComponent).join('/');
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

/**
 * @param {string} query
 * @returns {Entry[]}
 */
export function entriesOf(query) {
  return [...new URLSearchParams(query)];
}

/**
 * Returns the parameters of a query that select records.
 * @param {string} query
 */
export function filtersIn(query) {
  return entriesOf(query).filter(([name]) => !PAGING.includes(name));
}

/**
 * Writes a query. `+` becomes `%2B`; colons and commas, which a query permits, stay readable.
 * @param {readonly Entry[]} entries
 */
export function queryOf(entries) {
  /** @param {string} value */
  const encoded = (value) => encodeURIComponent(value).replaceAll('%3A', ':').replaceAll('%2C', ',');
  return entries.map(([name, value]) => `${encodeURIComponent(name)}=${encoded(value)}`).join('&');
}

/**
 * Sets parameters of a query, or removes those whose value is undefined.
 * @param {string} query
 * @param {Readonly<Record<string, string | undefined>>} changes
 */
export function withParameters(query, changes) {
  const kept = entriesOf(query).filter(([name]) => !(name in changes));
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) kept.push([name, value]);
  return queryOf(kept);
}

/**
 * Changes a query to the first page, on the live data.
 * @param {string} query
 * @param {Readonly<Record<string, string | undefined>>} changes
 */
export function withFirstPage(query, changes = {}) {
  return withParameters(query, { ...changes, ...FIRST_PAGE });
}

/**
 * Returns the query of a `nextPage` link. Its origin may be another one than that of this page.
 * @param {string} link
 */
export function queryOfLink(link) {
  return queryOf(entriesOf(new URL(link, 'http://localhost').search));
}

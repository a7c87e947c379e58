/** Queries of requests: their parameters, and their encoding. */

/** @typedef {readonly [name: string, value: string]} Entry */

/** Parameters that lead on in a walk, absent for its first page. */
const FIRST_PAGE = { page: undefined, snapshot: undefined };

/** Parameters of a page and of its walk. Forms leave them to the pager and to `nextPage` links. */
export const PAGING = ['perPage', ...Object.keys(FIRST_PAGE)];

/**
 * Returns the parameters of a query, in order.
 * @param {string} query
 * @returns {Entry[]}
 */
export function entriesOf(query) {
  return [...new URLSearchParams(query)];
}

/**
 * Returns the first value of a parameter.
 * @param {string} query
 * @param {string} name
 */
export function valueOf(query, name) {
  return new URLSearchParams(query).get(name) ?? undefined;
}

/**
 * Writes a query. `+` becomes `%2B`; colons and commas, which a query permits, stay readable.
 * @param {readonly Entry[]} entries
 */
export function queryOf(entries) {
  return entries.map(([name, value]) => `${encodeURIComponent(name)}=${encoded(value)}`).join('&');
}

/**
 * Returns a query with parameters set, or removed where the value is undefined.
 * @param {string} query
 * @param {Readonly<Record<string, string | undefined>>} changes
 */
export function withParameters(query, changes) {
  const kept = entriesOf(query).filter(([name]) => !(name in changes));
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) kept.push([name, value]);
  return queryOf(kept);
}

/**
 * Returns a query for the first page, on the live data.
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

/**
 * Returns the values of a list filter as the API takes them. Blanks around commas are dropped, and a stray comma stays,
 * so that the API can object to it.
 * @param {string} text
 */
export function listText(text) {
  return text
    .split(',')
    .map((value) => value.trim())
    .join(',');
}

/** @param {string} value */
function encoded(value) {
  return encodeURIComponent(value).replaceAll('%3A', ':').replaceAll('%2C', ',');
}

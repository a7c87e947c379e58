import { html, nothing } from 'lit-html';
import { LAYOUTS } from './columns.js';
import { headersFor, targetOf } from './contract.js';
import { filterForm, filtersOf } from './filter-form.js';
import { pager } from './pager.js';
import { entriesOf, PAGING, queryOf, valueOf, withFirstPage, withParameters } from './query.js';
import { linkTo } from './route.js';
import { empty, stateOf, violationsOf } from './states.js';

/** @import { Api } from './api.js' */
/** @import { Contract, List } from './contract.js' */
/** @import { Exchange } from './exchange.js' */
/** @import { Entry } from './query.js' */
/** @import { Route } from './route.js' */

/**
 * The surroundings in which a view is drawn.
 *
 * @typedef {object} Place
 * @property {Api} api
 * @property {Contract} contract
 * @property {Route} route
 */

/**
 * A page of a list.
 *
 * @template R
 * @typedef {object} Page
 * @property {readonly R[]} items
 * @property {number} page
 * @property {number} perPage
 * @property {number} totalPages
 * @property {string | null} nextPage
 */

/**
 * @typedef {object} ListOptions
 * @property {readonly string[]} [ids] values of the parameters of the path
 * @property {readonly Entry[]} [fixed] filters that the place sets
 * @property {readonly string[]} [zones] time zones for the filters
 * @property {(items: readonly never[]) => unknown} [show] template of the records; by default a table
 */

/**
 * Shows a list: the form of its filters, its records, and links to its pages.
 * @param {Place} place
 * @param {List} list
 * @param {ListOptions} options
 */
export function listView(place, list, { ids = [], fixed = [], zones = [], show = table(list) } = {}) {
  const { api, route } = place;
  const { segments, query } = route;
  const target = targetOf(list.path, ids, queryOf([...fixed, ...entriesOf(query)]));
  const reading = api.read({ target, headers: headersFor(list) });
  const filters = filtersOf(
    list.parameters,
    fixed.map(([name]) => name),
  );
  const perPage = valueOf(query, 'perPage');
  /** @param {readonly Entry[]} entries */
  const submit = (entries) => {
    location.hash = linkTo(segments, withParameters(queryOf(entries), { perPage }));
  };
  return html`
    ${
      filters.length === 0
        ? nothing
        : filterForm({ filters, query, violations: violationsOf(reading.exchange), zones, submit })
    }
    ${activeFilters(route)}
    <section class="results" tabindex="-1" aria-label="Records" aria-busy=${reading.state === 'loading'}>
      ${stateOf(api, reading, (answer) => results(place, list, answer, show))}
    </section>
  `;
}

/**
 * Links that remove one filter each.
 * @param {Route} route
 */
function activeFilters({ segments, query }) {
  const filters = entriesOf(query).filter(([name]) => !PAGING.includes(name));
  if (filters.length === 0) return nothing;
  return html`<ul class="active-filters" aria-label="Active filters">
    ${filters.map(
      ([name, value]) =>
        html`<li>
          <a href=${linkTo(segments, withFirstPage(query, { [name]: undefined }))}
            ><span class="unseen">Remove the filter </span><code>${name}</code> ${value}
            <span aria-hidden="true">×</span></a
          >
        </li>`,
    )}
  </ul>`;
}

/**
 * @param {Place} place
 * @param {List} list
 * @param {Exchange} answer
 * @param {(items: readonly never[]) => unknown} show
 */
function results({ route }, list, { status, body }, show) {
  if (status === 204) {
    const first = linkTo(route.segments, withFirstPage(route.query));
    return empty(
      'This page is beyond the last one.',
      html`The API answers 204. <a href=${first}>Go to the first page</a>`,
    );
  }
  const page = /** @type {Page<never>} */ (body);
  if (page.items.length === 0) {
    const isFiltered = entriesOf(route.query).some(([name]) => !PAGING.includes(name));
    return empty(isFiltered ? 'No record matches these filters.' : `There are no ${list.name}.`);
  }
  return html`${show(page.items)} ${pager(page, route, list)}`;
}

/**
 * Returns the template of a list's records as a table. On a narrow screen each row becomes a block, with the labels of
 * the columns before the values.
 * @param {List} list
 */
function table(list) {
  const layout = LAYOUTS[list.name];
  return (/** @type {readonly never[]} */ items) =>
    html`<table class="records">
      <thead>
        <tr>
          ${layout.columns.map(({ label, isNumber }) => html`<th scope="col" class=${isNumber === true ? 'number' : ''}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${items.map((record) => {
          const id = layout.idOf(record);
          return html`<tr>
            ${layout.columns.map(({ label, cell, isNumber }, i) => {
              const content = cell(record);
              return html`<td data-label=${label} class=${isNumber === true ? 'number' : ''}>
                ${i === 0 && id !== undefined ? html`<a href=${linkTo([list.name, id])}>${content}</a>` : content}
              </td>`;
            })}
          </tr>`;
        })}
      </tbody>
    </table>`;
}

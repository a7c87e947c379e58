import { html, nothing } from 'lit-html';
import { largestPage } from './contract.js';
import { queryOfLink, withFirstPage, withParameters } from './query.js';
import { linkTo } from './route.js';

/** @import { List } from './contract.js' */
/** @import { Page } from './list-view.js' */
/** @import { Route } from './route.js' */

const SIZES = [10, 25, 50, 100];

/**
 * Returns the page numbers that a pager shows, with 0 for a gap: `1 0 4 5 6 0 75`.
 * @param {number} page
 * @param {number} totalPages
 */
export function pageNumbers(page, totalPages) {
  const near = [1, page - 1, page, page + 1, totalPages].filter((each) => each >= 1 && each <= totalPages);
  const numbers = [...new Set(near)].sort((a, b) => a - b);
  return numbers.flatMap((each, i) => (i > 0 && each > numbers[i - 1] + 1 ? [0, each] : [each]));
}

/**
 * Links to the other pages of a list. The next one is the `nextPage` of the API; the others stay on its data.
 * @param {Page<unknown>} page
 * @param {Route} route
 * @param {List} list
 */
export function pager({ page, perPage, totalPages, nextPage }, { segments, query }, list) {
  const pinned = nextPage === null ? query : queryOfLink(nextPage);
  /** @param {number} number */
  const pageLink = (number) =>
    linkTo(segments, withParameters(pinned, { page: String(number), perPage: String(perPage) }));
  const maximum = largestPage(list) ?? perPage;
  const sizes = [...new Set([...SIZES.filter((size) => size <= maximum), perPage])].sort((a, b) => a - b);
  /** @param {Event} event */
  const resize = ({ currentTarget }) => {
    if (!(currentTarget instanceof HTMLSelectElement)) return;
    location.hash = linkTo(segments, withFirstPage(query, { perPage: currentTarget.value }));
  };
  return html`<nav class="pager" aria-label="Pages">
    <ul>
      ${pageNumbers(page, totalPages).map((number) =>
        number === 0
          ? html`<li class="gap" aria-hidden="true">…</li>`
          : html`<li>
              <a
                href=${number === page + 1 && nextPage !== null ? linkTo(segments, pinned) : pageLink(number)}
                aria-label="Page ${number}"
                aria-current=${number === page ? 'page' : nothing}
                >${number}</a
              >
            </li>`,
      )}
    </ul>
    ${page > 1 ? html`<a class="button" href=${pageLink(page - 1)} rel="prev">Previous</a>` : nothing}
    ${nextPage === null ? nothing : html`<a class="button" href=${linkTo(segments, pinned)} rel="next">Next</a>`}
    <label class="per-page"
      >Per page
      <select @change=${resize}>
        ${sizes.map((size) => html`<option ?selected=${size === perPage}>${size}</option>`)}
      </select>
    </label>
  </nav>`;
}

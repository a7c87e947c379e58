import { html, nothing } from 'lit-html';
import { formatBytes, formatCount, formatDateTime } from '../shared/format.js';
import { badge } from './marks.js';
import { fetchList } from './responses.js';

/** The organizations and the keys: lists of any length, of which the server sends a page. */

/**
 * @import { TemplateResult } from 'lit-html'
 * @import { Key, ListPage, Organization } from './responses.js'
 */

/**
 * @typedef {readonly [heading: string, className?: 'number']} Column
 */

/**
 * A list with a search and pages.
 * @template T
 */
class PagedList {
  #name;
  #columns;
  #row;
  #changed;
  #search = '';
  #page = 1;
  /** @type {ListPage<T> | undefined} */
  #content;

  /**
   * @param {'organizations' | 'keys'} name
   * @param {(first: T) => readonly Column[]} columns returns the columns of a list with this first item
   * @param {(item: T) => TemplateResult} row
   * @param {() => void} changed called when the user asks for another part of the list
   */
  constructor(name, columns, row, changed) {
    this.#name = name;
    this.#columns = columns;
    this.#row = row;
    this.#changed = changed;
  }

  /** Fetches the part that the user asked for. */
  async load() {
    const content = /** @type {ListPage<T>} */ (await fetchList(this.#name, this.#search, this.#page));
    this.#content = content;
    // The list has become shorter.
    if (this.#page > content.totalPages) this.#goTo(Math.max(1, content.totalPages));
  }

  /**
   * @param {string} title
   * @param {string} placeholder names the texts that the search compares
   * @param {TemplateResult | string} emptyText
   */
  section(title, placeholder, emptyText) {
    const id = this.#name;
    const { items = [], total = 0, totalPages = 0, page = 1 } = this.#content ?? {};
    const columns = items.slice(0, 1).flatMap(this.#columns);
    const isSearched = this.#search !== '';
    return html`<section aria-labelledby=${id}>
      <div class="list-head">
        <h2 id=${id}>${title}</h2>
        <input
          type="search"
          aria-label="Search ${title.toLowerCase()}"
          placeholder=${placeholder}
          @input=${this.#onInput}
        />
        <p class="note" role="status">${formatCount(total)} ${isSearched ? 'found' : 'in all'}</p>
      </div>
      ${
        items.length === 0
          ? html`<div class="empty">${isSearched ? `Nothing contains “${this.#search}”.` : emptyText}</div>`
          : html`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${title.toLowerCase()}">
              <table>
                <thead>
                  <tr>
                    ${columns.map(([heading, className]) => html`<th class=${className ?? nothing}>${heading}</th>`)}
                  </tr>
                </thead>
                <tbody>
                  ${items.map(this.#row)}
                </tbody>
              </table>
            </div>`
      }
      ${
        totalPages <= 1
          ? nothing
          : html`<nav class="pager" aria-label="Pages of ${title.toLowerCase()}">
              ${this.#button('Previous', page - 1, page > 1)}
              <span>page ${formatCount(page)} of ${formatCount(totalPages)}</span>
              ${this.#button('Next', page + 1, page < totalPages)}
            </nav>`
      }
    </section>`;
  }

  /**
   * @param {string} text
   * @param {number} page
   * @param {boolean} isEnabled
   */
  #button(text, page, isEnabled) {
    return html`<button
      type="button"
      ?disabled=${!isEnabled}
      @click=${() => {
        this.#goTo(page);
      }}
    >
      ${text}
    </button>`;
  }

  /** @param {Event} event */
  #onInput = ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    this.#search = target.value.trim();
    this.#goTo(1);
  };

  /** @param {number} page */
  #goTo(page) {
    this.#page = page;
    this.#changed();
  }
}

/** @param {() => void} changed */
export function organizationList(changed) {
  /** @param {Organization} organization */
  const row = ({ organizationId, file, records, bytesHeld }) =>
    html`<tr>
      <th scope="row">${organizationId}</th>
      <td>${file}</td>
      ${Object.values(records).map((count) => html`<td class="number">${formatCount(count)}</td>`)}
      <td class="number">${formatBytes(bytesHeld)}</td>
    </tr>`;
  /**
   * @param {Organization} first
   * @returns {Column[]}
   */
  const columns = ({ records }) => [
    ['Organization'],
    ['File'],
    ...[...Object.keys(records), 'memory'].map(
      (name) => /** @type {const} */ ([name.charAt(0).toUpperCase() + name.slice(1), 'number']),
    ),
  ];
  return new PagedList('organizations', columns, row, changed);
}

/** @param {() => void} changed */
export function keyList(changed) {
  /** @param {Key} key */
  const row = ({ keyId, organizationId, label, state, expiresAt, hasData, lastUsedAt }) =>
    html`<tr>
      <th scope="row"><code>${keyId}</code></th>
      <td>${organizationId}</td>
      <td>${label}</td>
      <td>
        ${badge(state === 'valid' ? 'good' : 'off', state)}
        ${state === 'valid' && !hasData ? badge('warn', 'no data: requests get 429') : nothing}
      </td>
      <td>${expiresAt === null ? 'never' : formatDateTime(expiresAt)}</td>
      <td>${lastUsedAt === null ? 'not since the start' : formatDateTime(lastUsedAt)}</td>
    </tr>`;
  /** @type {Column[]} */
  const columns = [['Key'], ['Organization'], ['Label'], ['State'], ['Expires'], ['Last used, by the hour']];
  return new PagedList('keys', () => columns, row, changed);
}

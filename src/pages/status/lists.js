import { html, nothing } from 'lit-html';
import { formatBytes, formatCount, formatDateTime } from '../shared/format.js';
import { scrollingTable } from '../shared/table.js';
import { badge } from './marks.js';

/** @import { Column } from '../shared/table.js' */
/** @import { Key, ListPage, Organization } from './types.d.ts' */

/**
 * The organizations and the keys: lists of any length, of which the server sends a page.
 *
 * @typedef {object} ListState
 * @property {string} search
 * @property {number} page
 * @property {ListPage<never>} [content]
 */

/** @type {Readonly<Record<'organizations' | 'keys', { title: string, searched: string, columns: (items: readonly never[]) => readonly Column<never>[] }>>} */
const LISTS = {
  organizations: { title: 'Organizations', searched: 'part of an id', columns: organizationColumns },
  keys: { title: 'Keys', searched: 'part of an id, organization or label', columns: () => KEY_COLUMNS },
};

/**
 * @param {readonly Organization[]} organizations
 * @returns {readonly Column<Organization>[]}
 */
function organizationColumns([{ records }]) {
  return [
    ['Organization', ({ organizationId }) => organizationId, 'header'],
    ['File', ({ file }) => file],
    .../** @type {(keyof typeof records)[]} */ (Object.keys(records)).map(
      (name) =>
        /** @type {const} */ ([
          name.charAt(0).toUpperCase() + name.slice(1),
          (/** @type {Organization} */ organization) => formatCount(organization.records[name]),
          'number',
        ]),
    ),
    ['Memory', ({ bytesHeld }) => formatBytes(bytesHeld), 'number'],
  ];
}

/** @type {readonly Column<Key>[]} */
const KEY_COLUMNS = [
  ['Key', ({ keyId }) => html`<code>${keyId}</code>`, 'header'],
  ['Organization', ({ organizationId }) => organizationId],
  ['Label', ({ label }) => label],
  [
    'State',
    ({ state, hasData }) =>
      html`${badge(state === 'valid' ? 'good' : 'off', state)}
      ${state === 'valid' && !hasData ? badge('warn', 'no data: requests get 429') : nothing}`,
  ],
  ['Expires', ({ expiresAt }) => (expiresAt === null ? 'never' : formatDateTime(expiresAt))],
  [
    'Last used, by the hour',
    ({ lastUsedAt }) => (lastUsedAt === null ? 'not since the start' : formatDateTime(lastUsedAt)),
  ],
];

/**
 * @param {keyof typeof LISTS} id
 * @param {ListState} state
 * @param {unknown} emptyText
 * @param {(search: string, page: number) => void} goTo called when the user asks for another part of the list
 */
export function listSection(id, { search, content }, emptyText, goTo) {
  const { title, searched, columns } = LISTS[id];
  const name = title.toLowerCase();
  const { items = [], total = 0, totalPages = 0, page = 1 } = content ?? {};
  /** @param {Event} event */
  const onInput = ({ target }) => {
    if (target instanceof HTMLInputElement) goTo(target.value.trim(), 1);
  };
  /**
   * @param {string} text
   * @param {number} to
   */
  const button = (text, to) =>
    html`<button
      type="button"
      ?disabled=${to < 1 || to > totalPages}
      @click=${() => {
        goTo(search, to);
      }}
    >
      ${text}
    </button>`;
  return html`<section aria-labelledby=${id}>
    <div class="list-head">
      <h2 id=${id}>${title}</h2>
      <input type="search" aria-label="Search ${name}" placeholder=${searched} @input=${onInput} />
      <p class="note" role="status">${formatCount(total)} ${search === '' ? 'in all' : 'found'}</p>
    </div>
    ${
      items.length === 0
        ? html`<div class="empty">${search === '' ? emptyText : `Nothing contains “${search}”.`}</div>`
        : scrollingTable(`Table of ${name}`, columns(items), items)
    }
    ${
      totalPages <= 1
        ? nothing
        : html`<nav class="pager" aria-label="Pages of ${name}">
            ${button('Previous', page - 1)}
            <span>page ${formatCount(page)} of ${formatCount(totalPages)}</span>
            ${button('Next', page + 1)}
          </nav>`
    }
  </section>`;
}

import { html, nothing } from 'lit-html';
import { headerOf, LINES_TYPE } from '../shared/exchange.js';
import { formatCount, formatDateTime } from '../shared/format.js';
import { entriesOf, queryOfLink, withParameters } from './address.js';
import { listRequest } from './contract.js';
import { columnsOf, csvEncoder } from './csv.js';
import { boundInMemory } from './download.js';
import { formatDistance } from './times.js';

/** @import { Exchange } from '../shared/exchange.js' */
/** @import { Selection } from './list-view.js' */
/** @import { Page, Place } from './types.d.ts' */

/** The line above a list: the number of its records, the time of the data, and its download. */

const FORMATS = { csv: 'CSV', marked: 'CSV for spreadsheets', ndjson: 'NDJSON' };

/**
 * Reads the number of records on the data of a page. At one record a page, it is that of pages.
 * @param {Place} place
 * @param {Selection} selection
 * @param {Exchange} answer a page
 */
export function readTotal({ api, readings }, { list, ids = [] }, { body }) {
  const { nextPage } = /** @type {Page} */ (body ?? { nextPage: null });
  // The last page tells it.
  if (nextPage === null) return;
  const query = withParameters(queryOfLink(nextPage), { page: undefined, perPage: '1' });
  readings.total = api.read({ ...listRequest(list, ids, entriesOf(query)), isAside: true });
}

/**
 * @param {Place} place
 * @param {Selection} selection
 * @param {Page} page
 */
export function listBar(place, selection, page) {
  const { readings, downloads } = place;
  const asOf = dataTimeOf(readings.page?.exchange);
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    const format = form instanceof HTMLFormElement ? form.querySelector('select')?.value : undefined;
    void download(place, selection, format);
  };
  return html`<div class="list-bar">
    <p>
      <strong role="status">${total(selection.list.name, page, readings.total?.answer)}</strong>
      ${asOf === undefined ? nothing : html`<span class="quiet">as of <time datetime=${asOf} title=${asOf}>${formatDateTime(asOf)}</time>, ${formatDistance(asOf)}</span>`}
    </p>
    <form class="actions" @submit=${submit}>
      ${boundInMemory()}
      <select name="format" aria-label="Format of the download">
        ${Object.entries(FORMATS).map(([format, label]) => html`<option value=${format}>${label}</option>`)}
      </select>
      <button ?disabled=${downloads.isRunning}>Download</button>
    </form>
  </div>`;
}

/**
 * @param {string} name of the list
 * @param {Page} page
 * @param {Exchange | undefined} counted
 */
function total(name, { page, perPage, items, nextPage }, counted) {
  const countedPage = /** @type {Page | undefined} */ (counted?.body);
  const count = nextPage === null ? (page - 1) * perPage + items.length : countedPage?.totalPages;
  if (count === undefined) return nothing;
  return `${formatCount(count)} ${count === 1 ? name.slice(0, -1) : name}`;
}

/** @param {Exchange | undefined} exchange */
function dataTimeOf(exchange) {
  return exchange === undefined ? undefined : headerOf(exchange, 'service-data-as-of');
}

/**
 * Downloads the list of a place, after its answer is confirmed, so that the name of the file has the time of its data.
 * @param {Place} place
 * @param {Selection} selection
 * @param {string | undefined} format
 */
async function download({ api, contract, route, readings: { page }, downloads }, selection, format) {
  const { list, ids = [], fixed = [] } = selection;
  await page?.refresh();
  if (page?.state !== 'ready') return;
  const query = withParameters(route.query, { page: undefined, perPage: undefined });
  const { target, headers } = listRequest(list, ids, [...fixed, ...entriesOf(query)]);
  const time = (dataTimeOf(page.exchange) ?? '').replaceAll(':', '-');
  const isCsv = format !== 'ndjson';
  await downloads.start(
    api,
    { target, headers: [...headers, ['Accept', LINES_TYPE]], isAside: true },
    `${list.name}-${time}.${isCsv ? 'csv' : 'ndjson'}`,
    isCsv ? csvEncoder(columnsOf(contract, list.record), format === 'marked') : (part) => part,
  );
}

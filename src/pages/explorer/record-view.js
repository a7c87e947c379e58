import { html, nothing } from 'lit-html';
import { headersFor, targetOf } from './contract.js';
import { copyButton } from './copy.js';
import { linkTo } from './route.js';
import { stateOf } from './states.js';
import { prose, shown } from './values.js';

/** @import { List } from './contract.js' */
/** @import { Exchange } from './exchange.js' */
/** @import { Place } from './list-view.js' */
/** @import { JsonObject } from './values.js' */

/**
 * Links from a record to lists of others, which no field names.
 * @type {Readonly<Record<string, ((id: string) => readonly [label: string, href: string][]) | undefined>>}
 */
const RELATED = {
  orders: (id) => [['Tickets of this order', linkTo(['tickets'], `orderIds=${encodeURIComponent(id)}`)]],
};

/**
 * Shows a record with all its fields.
 * @param {Place} place
 * @param {List} list
 * @param {string} id
 */
export function recordView({ api, contract }, list, id) {
  if (list.recordPath === undefined) return nothing;
  const reading = api.read({ target: targetOf(list.recordPath, [id]), headers: headersFor(list) });
  return stateOf(
    api,
    reading,
    (answer) => html`${related(list, id)} ${recordFields({ contract }, list, id, answer)}`,
  );
}

/**
 * @param {List} list
 * @param {string} id
 */
function related(list, id) {
  const links = RELATED[list.name]?.(id) ?? [];
  if (links.length === 0) return nothing;
  return html`<p class="related">
    ${links.map(([label, href]) => html`<a class="button" href=${href}>${label}</a>`)}
  </p>`;
}

/**
 * Shows the fields of a record with their descriptions in the contract, and its JSON.
 * @param {Pick<Place, 'contract'>} place
 * @param {List} list
 * @param {string} id
 * @param {Exchange} answer
 */
export function recordFields({ contract }, list, id, { body }) {
  const record = /** @type {JsonObject} */ (body);
  const { properties = {} } = contract.resolve(list.record, record);
  const { currency } = record;
  const around = { contract, currency: typeof currency === 'string' ? currency : undefined, self: id };
  const json = JSON.stringify(record, null, 2);
  return html`
    <dl class="record">
      ${Object.entries(record).map(([name, value]) => {
        const schema = properties[name] ?? {};
        return html`<div class="row">
          <dt>${name}</dt>
          <dd>${shown(value, name, schema, around)}</dd>
          <dd class="description">${prose(schema.description ?? '')}</dd>
        </div>`;
      })}
    </dl>
    <details class="json">
      <summary>JSON</summary>
      <div class="code">
        ${copyButton('Copy', () => json)}
        <pre tabindex="0" aria-label="JSON of the record">${json}</pre>
      </div>
    </details>
  `;
}

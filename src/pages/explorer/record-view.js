import { html, nothing } from 'lit-html';
import { linkTo, queryOf } from './address.js';
import { recordRequest } from './contract.js';
import { copyButton } from './copy-button.js';
import { answerOf } from './states.js';
import { prose, shown } from './values.js';

/** @import { Exchange } from '../shared/exchange.js' */
/** @import { Contract, List } from './contract.js' */
/** @import { Place } from './types.d.ts' */
/** @import { JsonObject } from './values.js' */

/**
 * @param {Place} place
 * @param {List} list
 * @param {string} id
 */
export function readRecord({ api, readings }, list, id) {
  readings.record = api.read(recordRequest(list, id));
}

/**
 * Shows a record with all its fields.
 * @param {Place} place
 * @param {List} list
 * @param {string} id
 */
export function recordView({ contract, readings }, list, id) {
  const tickets = linkTo(['tickets'], queryOf([['orderIds', id]]));
  return answerOf(
    readings.record,
    (answer) =>
      html`${
        list.name === 'orders'
          ? html`<p class="related"><a class="button" href=${tickets}>Tickets of this order</a></p>`
          : nothing
      }
      ${recordFields(contract, list, id, answer)}`,
  );
}

/**
 * Shows the fields of a record with their descriptions in the contract, and its JSON.
 * @param {Contract} contract
 * @param {List} list
 * @param {string} id
 * @param {Exchange} answer
 */
export function recordFields(contract, list, id, { body }) {
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

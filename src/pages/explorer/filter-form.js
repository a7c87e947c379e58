import { html, nothing } from 'lit-html';
import { entriesOf } from './address.js';
import { permits } from './contract.js';
import { offeredZones, partsOfTimestamp, timestampOf } from './times.js';
import { prose } from './values.js';

/** @import { Entry } from './address.js' */
/** @import { Parameter } from './contract.js' */
/** @import { Violation } from './types.d.ts' */

/** The form of a list, made from the parameters that the contract declares for it. */

/** Suffix of the field that holds the time zone of a date and time. */
const ZONE = ' zone';

/**
 * Returns the parameters that a submitted form sets. Empty fields set none.
 * @param {readonly Parameter[]} filters
 * @param {(field: string) => string} fieldOf returns the text of a field
 * @returns {Entry[]}
 */
export function submitted(filters, fieldOf) {
  return filters.flatMap((filter) => {
    const { name } = filter;
    const text = fieldOf(name);
    if (text === '') return [];
    const zone = fieldOf(name + ZONE);
    if (zone !== '') return [[name, timestampOf(text, zone)]];
    return [[name, kindOf(filter) === 'list' ? listText(text) : text]];
  });
}

/**
 * Returns the values of a list filter as the API takes them. Blanks around commas are dropped, and a stray comma stays,
 * so that the API can object to it.
 * @param {string} text
 */
function listText(text) {
  return text
    .split(',')
    .map((value) => value.trim())
    .join(',');
}

/**
 * @param {Parameter} filter
 * @returns {'instant' | 'list' | 'choice' | 'text'}
 */
export function kindOf({ schema }) {
  if (permits(schema, 'array')) return 'list';
  if (choicesOf(schema).length > 0) return 'choice';
  return schema['x-timestamp'] === true ? 'instant' : 'text';
}

/**
 * Returns an example of a parameter, as a user may write it.
 * @param {Parameter} filter
 */
export function exampleOf({ schema }) {
  return String(schema.examples?.[0] ?? '');
}

/**
 * @param {Parameter['schema']} schema
 * @returns {readonly string[]}
 */
function choicesOf(schema) {
  return (schema.enum ?? []).map(String);
}

/**
 * @typedef {object} Form
 * @property {readonly Parameter[]} filters
 * @property {string} query of the request
 * @property {readonly Violation[]} violations
 * @property {readonly string[]} zones time zones to offer before that of the browser
 * @property {(entries: readonly Entry[]) => void} submit
 */

/** @param {Form} form */
export function filterForm(form) {
  const { filters, query, violations, submit } = form;
  const used = entriesOf(query).filter(([name]) => filters.some((filter) => filter.name === name)).length;
  /** @param {SubmitEvent} event */
  const submitForm = (event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const content = new FormData(event.currentTarget);
    submit(submitted(filters, (field) => textOf(content.get(field))));
  };
  const clear = () => {
    submit([]);
  };
  return html`<details class="filters" ?open=${used > 0 || violations.length > 0}>
    <summary>Filters ${used === 0 ? nothing : html`<span class="count">${used}</span>`}</summary>
    <form novalidate autocomplete="off" @submit=${submitForm}>
      <div class="form-grid">${filters.map((filter) => field(filter, form))}</div>
      <div class="actions">
        <button class="primary">Apply</button>
        ${used === 0 ? nothing : html`<button type="button" @click=${clear}>Clear</button>`}
      </div>
    </form>
  </details>`;
}

/** @param {FormDataEntryValue | null} entry */
function textOf(entry) {
  return typeof entry === 'string' ? entry.trim() : '';
}

/**
 * @param {Parameter} filter
 * @param {Form} form
 */
function field(filter, { query, violations, zones }) {
  const { name, description = '' } = filter;
  const id = `filter-${name}`;
  const own = violations.filter(({ loc }) => loc === `query.${name}`);
  const text = new URLSearchParams(query).get(name) ?? '';
  return html`<div class="field ${own.length > 0 ? 'invalid' : ''}">
    <label for=${id}>${name}</label>
    ${control(filter, text, own.length > 0, zones)}
    ${own.map(({ ctx }) => html`<p class="violation" id="${id}-violation">${ctx}</p>`)}
    <p class="hint" id="${id}-hint">${prose(description)}</p>
  </div>`;
}

/**
 * @param {Parameter} filter
 * @param {string} text
 * @param {boolean} isInvalid
 * @param {readonly string[]} zones
 */
function control(filter, text, isInvalid, zones) {
  const { name, schema } = filter;
  const kind = kindOf(filter);
  const id = `filter-${name}`;
  const describedBy = isInvalid ? `${id}-violation ${id}-hint` : `${id}-hint`;
  if (kind === 'choice') {
    const choices = choicesOf(schema);
    // A value of a link that is none of the choices stays visible next to the objection of the API.
    const all = text === '' || choices.includes(text) ? choices : [...choices, text];
    return html`<select id=${id} name=${name} aria-describedby=${describedBy} aria-invalid=${isInvalid}>
      <option value="" ?selected=${text === ''}>any</option>
      ${all.map((choice) => html`<option ?selected=${choice === text}>${choice}</option>`)}
    </select>`;
  }
  const parts = partsOfTimestamp(text);
  const isInstant = kind === 'instant' && (text === '' || parts !== undefined);
  const input = html`<input
    id=${id}
    name=${name}
    type=${isInstant ? 'datetime-local' : 'text'}
    value=${isInstant ? (parts?.wall ?? '') : text}
    placeholder=${exampleOf(filter)}
    spellcheck="false"
    autocapitalize="off"
    aria-describedby=${describedBy}
    aria-invalid=${isInvalid}
  />`;
  if (!isInstant) return input;
  const offered = offeredZones(parts === undefined ? zones : [parts.offset, ...zones]);
  return html`<div class="instant">
    ${input}
    <select name=${name + ZONE} aria-label="Time zone of ${name}">
      ${offered.map((zone, i) => html`<option ?selected=${i === 0}>${zone}</option>`)}
    </select>
  </div>`;
}

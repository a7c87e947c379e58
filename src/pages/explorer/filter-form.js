import { html, nothing } from 'lit-html';
import { entriesOf } from './address.js';
import { permits } from './contract.js';
import { offeredZones, partsOfTimestamp, timestampOf } from './times.js';
import { prose } from './values.js';

/** @import { Entry } from './address.js' */
/** @import { Parameter } from './contract.js' */
/** @import { Violation } from './types.d.ts' */

/** The form of a list, made from the parameters that the contract declares for it. */

/** Suffixes of the fields that hold the time and the time zone of a date. */
const TIME = ' time';
const ZONE = ' zone';

/** Bounds that a date without a time sets at the end of its day, all of which is then either within them or outside. */
const AT_END = /\.(?:gt|lte)$/;

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
    if (zone !== '') {
      const time = fieldOf(name + TIME) || (AT_END.test(name) ? '23:59:59.999' : '00:00');
      return [[name, timestampOf(`${text}T${time}`, zone)]];
    }
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
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    const content = new FormData(form);
    for (const { name } of filters) {
      const input = form.elements.namedItem(name);
      if (input instanceof HTMLInputElement) input.required = textOf(content.get(name + TIME)) !== '';
    }
    // An incomplete date or time counts as empty. The browser tells what is missing.
    if (!form.reportValidity()) return;
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
    <p class="hint" id="${id}-hint">
      ${prose(description)}
      ${kindOf(filter) === 'instant' ? `A date without a time is the ${AT_END.test(name) ? 'end' : 'start'} of the day.` : nothing}
    </p>
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
  const [date = '', time = ''] = parts?.wall.split('T') ?? [];
  const input = html`<input
    id=${id}
    name=${name}
    type=${isInstant ? 'date' : 'text'}
    value=${isInstant ? date : text}
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
    <input
      name=${name + TIME}
      type="time"
      step=${time.length > 'HH:MM'.length ? 0.001 : 60}
      value=${time}
      aria-label="Time of ${name}"
    />
    <select name=${name + ZONE} aria-label="Time zone of ${name}">
      ${offered.map((zone, i) => html`<option ?selected=${i === 0}>${zone}</option>`)}
    </select>
  </div>`;
}

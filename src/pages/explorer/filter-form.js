import { html, nothing } from 'lit-html';
import { permits } from './contract.js';
import { entriesOf, listText, PAGING, valueOf } from './query.js';
import { offeredZones, partsOfTimestamp, timestampOf } from './times.js';
import { prose } from './values.js';

/** @import { Parameter } from './contract.js' */
/** @import { Entry } from './query.js' */
/** @import { Violation } from './states.js' */

/** The form of a list, made from the parameters that the contract declares for it. */

/** Suffix of the field that holds the time zone of a date and time. */
const ZONE = ' zone';

/**
 * Returns the parameters that a form has fields for.
 * @param {readonly Parameter[]} parameters
 * @param {readonly string[]} fixed names that the place sets
 */
export function filtersOf(parameters, fixed = []) {
  return parameters.filter(({ name }) => !PAGING.includes(name) && !fixed.includes(name));
}

/**
 * Returns the parameters that a submitted form sets. Empty fields set none.
 * @param {readonly Parameter[]} filters
 * @param {(field: string) => string} fieldOf returns the text of a field
 * @returns {Entry[]}
 */
export function submitted(filters, fieldOf) {
  return filters.flatMap((parameter) => {
    const { name } = parameter;
    const text = fieldOf(name);
    if (text === '') return [];
    const kind = kindOf(parameter);
    const zone = fieldOf(name + ZONE);
    if (kind === 'instant') return [[name, zone === '' ? text : timestampOf(text, zone)]];
    return [[name, kind === 'list' ? listText(text) : text]];
  });
}

/**
 * @param {Parameter} parameter
 * @returns {'instant' | 'list' | 'choice' | 'text'}
 */
export function kindOf({ schema }) {
  if (permits(schema, 'array')) return 'list';
  if (choicesOf(schema).length > 0) return 'choice';
  return schema.pattern?.includes('T(') === true ? 'instant' : 'text';
}

/**
 * Returns an example of a parameter, as a user may write it.
 * @param {Parameter} parameter
 */
export function exampleOf({ schema }) {
  return String(schema.examples?.[0] ?? '');
}

/**
 * @param {Parameter['schema']} schema
 * @returns {readonly string[]}
 */
function choicesOf(schema) {
  return schema.enum ?? (permits(schema, 'boolean') ? ['true', 'false'] : []);
}

/**
 * @param {object} form
 * @param {readonly Parameter[]} form.filters
 * @param {string} form.query of the request
 * @param {readonly Violation[]} form.violations
 * @param {readonly string[]} form.zones time zones to offer before that of the browser
 * @param {(entries: readonly Entry[]) => void} form.submit
 */
export function filterForm({ filters, query, violations, zones, submit }) {
  const names = filters.map(({ name }) => name);
  const used = entriesOf(query).filter(([name]) => names.includes(name)).length;
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
      <div class="form-grid">${filters.map((parameter) => field(parameter, query, violations, zones))}</div>
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
 * @param {Parameter} parameter
 * @param {string} query
 * @param {readonly Violation[]} violations
 * @param {readonly string[]} zones
 */
function field(parameter, query, violations, zones) {
  const { name, description = '' } = parameter;
  const id = `filter-${name}`;
  const own = violations.filter(({ loc }) => loc === `query.${name}`);
  const isInvalid = own.length > 0;
  return html`<div class="field ${isInvalid ? 'invalid' : ''}">
    <label for=${id}>${name}</label>
    ${control(parameter, id, valueOf(query, name) ?? '', isInvalid, zones)}
    ${own.map(({ ctx }) => html`<p class="violation" id="${id}-violation">${ctx}</p>`)}
    <p class="hint" id="${id}-hint">${prose(description)}</p>
  </div>`;
}

/**
 * @param {Parameter} parameter
 * @param {string} id
 * @param {string} text
 * @param {boolean} isInvalid
 * @param {readonly string[]} zones
 */
function control(parameter, id, text, isInvalid, zones) {
  const { name, schema } = parameter;
  const describedBy = isInvalid ? `${id}-violation ${id}-hint` : `${id}-hint`;
  if (kindOf(parameter) === 'choice') {
    const choices = choicesOf(schema);
    // A value of a link that is none of the choices stays visible beside the objection of the API.
    const all = text === '' || choices.includes(text) ? choices : [...choices, text];
    return html`<select id=${id} name=${name} aria-describedby=${describedBy} aria-invalid=${isInvalid}>
      <option value="" ?selected=${text === ''}>any</option>
      ${all.map((choice) => html`<option ?selected=${choice === text}>${choice}</option>`)}
    </select>`;
  }
  const parts = partsOfTimestamp(text);
  if (kindOf(parameter) === 'instant' && (text === '' || parts !== undefined)) {
    const offered = parts === undefined ? offeredZones(zones) : offeredZones([parts.offset, ...zones]);
    return html`<div class="instant">
      <input
        id=${id}
        name=${name}
        type="datetime-local"
        value=${parts?.wall ?? ''}
        aria-describedby=${describedBy}
        aria-invalid=${isInvalid}
      />
      <select name=${name + ZONE} aria-label="Time zone of ${name}">
        ${offered.map((zone, i) => html`<option ?selected=${i === 0}>${zone}</option>`)}
      </select>
    </div>`;
  }
  return html`<input
    id=${id}
    name=${name}
    value=${text}
    placeholder=${exampleOf(parameter)}
    spellcheck="false"
    autocapitalize="off"
    aria-describedby=${describedBy}
    aria-invalid=${isInvalid}
  />`;
}

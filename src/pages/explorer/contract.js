import { PAGING, queryOf } from './address.js';

/** @import { Header, PageRequest } from '../shared/exchange.js' */
/** @import { Entry } from './address.js' */

/**
 * The contract of the API, read from the OpenAPI document. Lists, forms, fields and descriptions of the explorer derive
 * from it.
 *
 * @typedef {object} Schema JSON Schema, as far as the explorer reads it
 * @property {string | readonly string[]} [type]
 * @property {string} [$ref]
 * @property {string} [description]
 * @property {readonly (string | boolean)[]} [enum]
 * @property {boolean} [x-timestamp] whether the value is a date and time
 * @property {number} [maximum]
 * @property {string | number | boolean} [default]
 * @property {readonly (string | number | boolean | readonly string[])[]} [examples]
 * @property {Schema} [items]
 * @property {readonly [Schema, Schema]} [oneOf] of a nullable object: its schema, and that of null
 * @property {Readonly<Record<string, Schema | undefined>>} [properties]
 * @property {{ propertyName: string, mapping: Readonly<Record<string, string | undefined>> }} [discriminator]
 *
 * @typedef {object} Parameter
 * @property {string} name
 * @property {'query' | 'path' | 'header'} in
 * @property {string} [description]
 * @property {Schema} schema
 *
 * @typedef {object} Operation
 * @property {string} description
 * @property {readonly (Parameter | { $ref: string })[]} parameters
 * @property {Readonly<Record<string, { content?: Readonly<Record<string, { schema: Schema }>> }>>} responses
 *
 * @typedef {object} OpenApi
 * @property {Readonly<Record<string, { get?: Operation }>>} paths
 * @property {{ schemas: Readonly<Record<string, Schema | undefined>>, parameters: Readonly<Record<string, Parameter>> }} components
 *
 * @typedef {object} List
 * @property {string} name last segment of the path, such as `tickets`
 * @property {string} path
 * @property {string} description first paragraph
 * @property {readonly Parameter[]} filters parameters that select records
 * @property {number} largestPage largest number of records on a page
 * @property {boolean} isPreview whether only the preview version has it
 * @property {readonly Header[]} headers of requests for the list and its records
 * @property {Schema} record schema of its records
 * @property {string | undefined} recordPath path template of one record
 */

const VERSION_HEADER = 'Service-API-Version';
const PREVIEW = 'preview';

export class Contract {
  #document;
  /** Lists of the organization, and those of a record, such as the sessions of an event. */
  lists;

  /** @param {OpenApi} document */
  constructor(document) {
    this.#document = document;
    this.lists = Object.entries(document.paths).flatMap(([path, { get }]) => {
      const page = get?.responses['200']?.content?.['application/json']?.schema ?? {};
      const record = this.resolve(page).properties?.['items']?.items;
      const isList = get !== undefined && record !== undefined && path.startsWith('/v1/');
      return isList ? [this.#listOf(path, get, record)] : [];
    });
  }

  /** Lists that belong to the organization itself. */
  get organizationLists() {
    return this.lists.filter(({ path }) => !path.includes('{'));
  }

  /**
   * Returns a list that the explorer knows by name.
   * @param {string} name
   */
  list(name) {
    const found = this.lists.find((list) => list.name === name);
    if (found === undefined) throw new Error(`the contract has no list ${name}`);
    return found;
  }

  /**
   * @param {string} path
   * @param {Operation} operation
   * @param {Schema} record
   * @returns {List}
   */
  #listOf(path, { description, parameters }, record) {
    const { paths, components } = this.#document;
    const all = parameters.map((each) => ('$ref' in each ? components.parameters[nameIn(each.$ref)] : each));
    const isPreview = all.find(({ name }) => name === VERSION_HEADER)?.schema.default === PREVIEW;
    return {
      name: path.slice(path.lastIndexOf('/') + 1),
      path,
      description: description.split('\n\n')[0],
      filters: all.filter(({ name, in: place }) => place === 'query' && !PAGING.includes(name)),
      largestPage: all.find(({ name }) => name === 'perPage')?.schema.maximum ?? 1,
      isPreview,
      headers: isPreview ? [[VERSION_HEADER, PREVIEW]] : [],
      record,
      recordPath: Object.keys(paths).find((each) => each.startsWith(`${path}/{`) && each.endsWith('}')),
    };
  }

  /**
   * Follows references, and selects the variant of a value by its discriminator.
   * @param {Schema} schema
   * @param {object} [value]
   * @returns {Schema}
   */
  resolve(schema, value) {
    const { $ref, discriminator, oneOf } = schema;
    if ($ref !== undefined) return this.resolve(this.#document.components.schemas[nameIn($ref)] ?? {}, value);
    if (discriminator === undefined && oneOf !== undefined) return this.resolve(oneOf[0], value);
    if (discriminator === undefined || value === undefined) return schema;
    const variant = discriminator.mapping[String(Reflect.get(value, discriminator.propertyName))];
    return variant === undefined ? schema : this.resolve({ $ref: variant }, value);
  }
}

/** @param {string} reference */
function nameIn(reference) {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/**
 * Returns the request of a page of a list.
 * @param {List} list
 * @param {readonly string[]} ids values of the parameters of the path
 * @param {readonly Entry[]} entries
 * @returns {PageRequest}
 */
export function listRequest({ path, headers }, ids, entries) {
  return { target: targetOf(path, ids, queryOf(entries)), headers };
}

/**
 * Returns the request of the first page of a list, in pages of the largest size.
 * @param {List} list
 * @param {readonly string[]} ids
 * @param {readonly Entry[]} filters
 */
export function walkRequest(list, ids, filters) {
  return listRequest(list, ids, [...filters, ['perPage', String(list.largestPage)]]);
}

/**
 * @param {List} list
 * @param {string} id
 * @returns {PageRequest}
 */
export function recordRequest({ recordPath = '', headers }, id) {
  return { target: targetOf(recordPath, [id]), headers };
}

/**
 * Returns the target of a request, relative to the page, since a proxy may add a prefix to both.
 * @param {string} template path template of the contract
 * @param {readonly string[]} ids values of its parameters, in order
 */
function targetOf(template, ids, query = '') {
  const rest = [...ids];
  const path = template.slice(1).replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(rest.shift() ?? ''));
  return query === '' ? path : `${path}?${query}`;
}

/**
 * Returns whether a schema permits a JSON type.
 * @param {Schema} schema
 * @param {string} name
 */
export function permits({ type }, name) {
  return Array.isArray(type) ? type.includes(name) : type === name;
}

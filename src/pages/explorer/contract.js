/**
 * The contract of the API, read from the OpenAPI document. Places, forms and descriptions of the explorer derive from it.
 *
 * @typedef {object} Schema JSON Schema, as far as the explorer reads it
 * @property {string | readonly string[]} [type]
 * @property {string} [$ref]
 * @property {string} [description]
 * @property {readonly string[]} [enum]
 * @property {string} [pattern]
 * @property {number} [maxItems]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {string | number | boolean} [default]
 * @property {readonly (string | number | boolean | readonly string[])[]} [examples]
 * @property {Schema} [items]
 * @property {Readonly<Record<string, Schema | undefined>>} [properties]
 * @property {readonly Schema[]} [oneOf]
 * @property {{ propertyName: string, mapping: Readonly<Record<string, string | undefined>> }} [discriminator]
 *
 * @typedef {object} Parameter
 * @property {string} name
 * @property {'query' | 'path' | 'header'} in
 * @property {string} [description]
 * @property {Schema} schema
 *
 * @typedef {{ $ref: string }} Reference
 *
 * @typedef {object} OpenApiOperation
 * @property {string} summary
 * @property {string} description
 * @property {readonly (Parameter | Reference)[]} parameters
 * @property {Readonly<Record<string, { content?: Readonly<Record<string, { schema: Schema }>> }>>} responses
 *
 * @typedef {object} OpenApi
 * @property {Readonly<Record<string, { get?: OpenApiOperation }>>} paths
 * @property {{ schemas: Readonly<Record<string, Schema | undefined>>, parameters: Readonly<Record<string, Parameter>> }} components
 *
 * @typedef {object} List
 * @property {string} name last segment of the path, such as `tickets`
 * @property {string} path
 * @property {string} description
 * @property {readonly Parameter[]} parameters of the query
 * @property {boolean} isPreview whether only the preview version has it
 * @property {Schema} record schema of its records
 * @property {string | undefined} recordPath path template of one record
 */

const VERSION_HEADER = 'Service-API-Version';
const PREVIEW = 'preview';
const API = '/v1/';

export class Contract {
  #document;
  /** Lists of the organization, and those of a record, such as the sessions of an event. */
  lists;

  /** @param {OpenApi} document */
  constructor(document) {
    this.#document = document;
    this.lists = Object.entries(document.paths).flatMap(([path, { get }]) => {
      const page = get?.responses['200']?.content?.['application/json']?.schema;
      const items =
        page === undefined ? undefined : this.resolve(page, undefined).properties?.['items']?.items;
      return get === undefined || items === undefined || !path.startsWith(API)
        ? []
        : [this.#listOf(path, get, items)];
    });
  }

  /**
   * @param {string} path
   * @param {OpenApiOperation} operation
   * @param {Schema} record
   * @returns {List}
   */
  #listOf(path, { description, parameters }, record) {
    const all = parameters.map((each) => ('$ref' in each ? this.#parameterAt(each.$ref) : each));
    const version = all.find(({ name }) => name === VERSION_HEADER);
    return {
      name: path.slice(path.lastIndexOf('/') + 1),
      path,
      description,
      parameters: all.filter((parameter) => parameter.in === 'query'),
      isPreview: version?.schema.default === PREVIEW,
      record,
      recordPath: Object.keys(this.#document.paths).find(
        (each) => each.startsWith(`${path}/{`) && each.endsWith('}'),
      ),
    };
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

  /** @param {string} reference */
  #parameterAt(reference) {
    return this.#document.components.parameters[reference.slice(reference.lastIndexOf('/') + 1)];
  }

  /**
   * Follows references, and selects the variant of a value by its discriminator.
   * @param {Schema} schema
   * @param {unknown} value
   * @returns {Schema}
   */
  resolve(schema, value) {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
      return this.resolve(this.#document.components.schemas[name] ?? {}, value);
    }
    const { discriminator } = schema;
    if (discriminator === undefined || typeof value !== 'object' || value === null) return schema;
    const variant = String(Reflect.get(value, discriminator.propertyName));
    const reference = discriminator.mapping[variant];
    return reference === undefined ? schema : this.resolve({ $ref: reference }, value);
  }
}

/**
 * Returns the headers of a request to a list or to a record of it.
 * @param {List} list
 * @returns {readonly (readonly [string, string])[]}
 */
export function headersFor({ isPreview }) {
  return isPreview ? [[VERSION_HEADER, PREVIEW]] : [];
}

/**
 * Returns the largest number of records that a page of a list may have.
 * @param {List} list
 */
export function largestPage({ parameters }) {
  return parameters.find(({ name }) => name === 'perPage')?.schema.maximum;
}

/**
 * Returns the target of a request, relative to the page, since a proxy may add a prefix to both.
 * @param {string} template path template of the contract
 * @param {readonly string[]} ids values of its parameters, in order
 */
export function targetOf(template, ids, query = '') {
  let rest = [...ids];
  const path = template.slice(1).replaceAll(/\{[^}]+\}/g, () => {
    const [id = '', ...others] = rest;
    rest = others;
    return encodeURIComponent(id);
  });
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

import { forgetKey, keepKey, organizationOf, restoreKey } from '../shared/session.js';
import { formPlugin } from './forms.js';
import { layoutPlugin } from './layout.js';

/**
 * The documentation: Swagger UI with the OpenAPI document of this service. It sends requests to the address from which
 * it came, also behind a proxy that adds a prefix, and nothing elsewhere.
 */

/** @typedef {{ readonly default?: unknown, readonly examples?: readonly unknown[] }} Schema */
/** @typedef {{ readonly required?: boolean, readonly schema?: Schema }} Parameter */
/** @typedef {{ readonly parameters: readonly Parameter[] }} Operation */
/**
 * @typedef {object} OpenApi
 * @property {Readonly<Record<string, { readonly get: Operation }>>} paths
 * @property {{ readonly parameters: Readonly<Record<string, Parameter>>, readonly securitySchemes: object }} components
 */

const BASE = new URL('.', location.href).href;

const reference = elementOf('reference');
const keyForm = elementOf('key-form');
const keyState = elementOf('key-state');
const forgetButton = elementOf('forget');

try {
  const [openApi, index] = await Promise.all([jsonOf('openapi.json'), jsonOf('.')]);
  elementOf('explorer-link').hidden = !('explorer' in index);
  const ui = start(/** @type {OpenApi} */ (openApi));
  useKeys(ui, Object.keys(/** @type {OpenApi} */ (openApi).components.securitySchemes));
} catch (error) {
  reference.replaceChildren(`The OpenAPI document cannot be shown: ${String(error)}`);
}

/** @param {OpenApi} openApi */
function start(openApi) {
  return SwaggerUIBundle({
    domNode: reference,
    spec: withEmptyForms(openApi),
    plugins: [layoutPlugin, formPlugin],
    layout: 'Layout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
}

/**
 * Returns the document without the defaults of optional parameters, which Swagger UI would fill into a form. A default
 * becomes an example, if there is no other: the first example is the placeholder.
 *
 * @param {OpenApi} openApi
 */
function withEmptyForms({ paths, components, ...rest }) {
  return {
    ...rest,
    servers: [{ url: BASE }],
    paths: mapValues(paths, ({ get }) => ({
      get: { ...get, parameters: get.parameters.map(withPlaceholder) },
    })),
    components: { ...components, parameters: mapValues(components.parameters, withPlaceholder) },
  };
}

/**
 * @param {Parameter} parameter
 * @returns {Parameter}
 */
function withPlaceholder(parameter) {
  const { required, schema } = parameter;
  if (required || schema?.default === undefined) return parameter;
  const { default: fallback, ...others } = schema;
  return { ...parameter, schema: { examples: [fallback], ...others } };
}

/**
 * Connects the form of the key.
 *
 * @param {SwaggerUI.Instance} ui
 * @param {readonly string[]} schemes
 */
function useKeys(ui, schemes) {
  const input = /** @type {HTMLInputElement} */ (elementOf('key'));
  const use = (/** @type {string} */ key) => {
    for (const scheme of schemes) ui.preauthorizeApiKey(scheme, key);
    keyState.textContent = `Requests are sent with a key of ${organizationOf(key)}.`;
    forgetButton.hidden = false;
  };
  keyForm.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = input.value.trim();
    keepKey(key);
    use(key);
    input.value = '';
  });
  forgetButton.addEventListener('click', () => {
    forgetKey();
    ui.authActions.logout(schemes);
    keyState.textContent = '';
    forgetButton.hidden = true;
    input.focus();
  });
  const key = restoreKey();
  if (key !== undefined) use(key);
}

/**
 * @param {string} path
 * @returns {Promise<object>}
 */
async function jsonOf(path) {
  const response = await fetch(new URL(path, BASE), { headers: { Accept: 'application/json' } });
  if (!response.ok) throw new Error(`${path} is ${response.status}`);
  /** @type {unknown} */
  const content = await response.json();
  if (typeof content !== 'object' || content === null) throw new Error(`${path} is not an object`);
  return content;
}

/** @param {string} id */
function elementOf(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}

/**
 * @template T, U
 * @param {Readonly<Record<string, T>>} record
 * @param {(value: T) => U} change
 */
function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

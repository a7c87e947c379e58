import { LINES_TYPE, send } from '../shared/exchange.js';
import {
  authorization,
  canBeSent,
  forgetKey,
  keepKey,
  KEY_TEST,
  MALFORMED,
  organizationOf,
  refusalOf,
  sharedKey,
  takeGivenKey,
} from '../shared/session.js';
import { formPlugin } from './forms.js';
import { layoutPlugin } from './layout.js';
import { requestPlugin } from './requests.js';

/**
 * The documentation: Swagger UI with the OpenAPI document of this service. It sends requests to the address from which
 * it came, also behind a proxy that adds a prefix, and nothing elsewhere.
 */

/** @typedef {{ readonly default?: unknown, readonly examples?: readonly unknown[] }} Schema */
/** @typedef {{ readonly required?: boolean, readonly schema?: Schema }} Parameter */
/** @typedef {{ readonly items?: readonly object[] }} Example */
/** @typedef {{ readonly content: Readonly<Record<string, { readonly example?: Example } | undefined>> }} Found */
/**
 * @typedef {object} Operation
 * @property {readonly Parameter[]} parameters
 * @property {{ readonly 200: Found }} responses
 */
/**
 * @typedef {object} OpenApi
 * @property {Readonly<Record<string, { readonly get: Operation }>>} paths
 * @property {{ readonly parameters: Readonly<Record<string, Parameter>>, readonly securitySchemes: object }} components
 */

const BASE = new URL('.', location.href).href;
// Before Swagger UI starts, which takes the fragment for the name of an operation and keeps it in the address.
const GIVEN_KEY = takeGivenKey();

const reference = elementOf('reference');
const keyForm = elementOf('key-form');
const keyState = elementOf('key-state');
const forgetButton = elementOf('forget');

try {
  const [openApi, index] = await Promise.all([jsonOf('openapi.json'), jsonOf('.')]);
  elementOf('explorer-link').hidden = !('explorer' in index);
  const ui = start(/** @type {OpenApi} */ (openApi));
  await useKeys(ui, Object.keys(/** @type {OpenApi} */ (openApi).components.securitySchemes));
} catch (error) {
  reference.replaceChildren(`The OpenAPI document cannot be shown: ${String(error)}`);
}

/** @param {OpenApi} openApi */
function start(openApi) {
  const spec = withEmptyForms(openApi);
  const ui = SwaggerUIBundle({
    domNode: reference,
    spec,
    plugins: [layoutPlugin, formPlugin, requestPlugin],
    layout: 'Layout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
  // Until the user selects a media type, Swagger UI would accept any.
  for (const [path, { get }] of Object.entries(spec.paths)) {
    const [value] = Object.keys(get.responses[200].content);
    ui.oas3Actions.setResponseContentType({ path, method: 'get', value });
  }
  return ui;
}

/**
 * Returns the document without the defaults of optional parameters, which Swagger UI would fill into a form. A default
 * becomes an example, if there is no other: the first example is the placeholder. Lists have a second media type, lines,
 * which the document does not declare.
 *
 * @param {OpenApi} openApi
 */
function withEmptyForms({ paths, components, ...rest }) {
  return {
    ...rest,
    servers: [{ url: BASE }],
    paths: mapValues(paths, ({ get }) => ({
      get: {
        ...get,
        parameters: get.parameters.map(withPlaceholder),
        responses: { ...get.responses, 200: withLines(get.responses[200]) },
      },
    })),
    components: { ...components, parameters: mapValues(components.parameters, withPlaceholder) },
  };
}

/** @param {Found} found */
function withLines({ content, ...rest }) {
  const example = content['application/json']?.example?.items?.at(0);
  return { ...rest, content: example === undefined ? content : { ...content, [LINES_TYPE]: { example } } };
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
 * Connects the form of the key. A key is in use at once, and until the API refuses it.
 *
 * @param {SwaggerUI.Instance} ui
 * @param {readonly string[]} schemes
 */
async function useKeys(ui, schemes) {
  const input = /** @type {HTMLInputElement} */ (elementOf('key'));
  /** @type {string | undefined} */
  let used;
  /** @param {string} text @param {'good' | 'warn' | 'bad' | ''} tone */
  const show = (text, tone) => {
    keyState.textContent = text;
    keyState.className = tone;
    input.ariaInvalid = String(tone === 'bad');
  };
  const forget = () => {
    used = undefined;
    forgetKey();
    ui.authActions.logout(schemes);
    forgetButton.hidden = true;
    show('', '');
  };
  const use = async (/** @type {string} */ key) => {
    used = key;
    keepKey(key);
    for (const scheme of schemes) ui.preauthorizeApiKey(scheme, key);
    forgetButton.hidden = false;
    show('Checking the key …', '');
    const { status, refusal } = await checked(key);
    if (used !== key) return;
    if (refusal === undefined) {
      input.value = '';
      show(`The key works: requests read the data of ${organizationOf(key)}.`, 'good');
    } else if (status === 400 || status === 403) {
      forget();
      show(refusal, 'bad');
    } else {
      show(`The key is not checked. ${refusal}`, 'warn');
    }
  };
  keyForm.addEventListener('submit', (event) => {
    event.preventDefault();
    void use(input.value.trim());
  });
  forgetButton.addEventListener('click', () => {
    forget();
    input.focus();
  });
  addEventListener('hashchange', () => {
    const given = takeGivenKey();
    if (given !== undefined) void use(given);
  });
  const shared = await sharedKey(forget);
  const key = GIVEN_KEY ?? shared;
  // Meanwhile, the visitor may have given another one.
  if (key !== undefined && used === undefined) void use(key);
}

/**
 * Sends a request with a key, and tells why it was refused, if so.
 * @param {string} key
 * @returns {Promise<{ readonly status: number, readonly refusal?: string }>}
 */
async function checked(key) {
  if (!canBeSent(key)) return { status: 400, refusal: MALFORMED };
  const outcome = await send({ ...KEY_TEST, headers: [authorization(key)] });
  const { status } = outcome;
  return status === 200 ? { status } : { status, refusal: refusalOf(outcome) };
}

/**
 * @param {string} target
 * @returns {Promise<object>}
 */
async function jsonOf(target) {
  const { status, body } = await send({ target, headers: [['Accept', 'application/json']] });
  if (status === 200 && typeof body === 'object' && body !== null) return body;
  throw new Error(`the response of ${target} has the status ${status}`);
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

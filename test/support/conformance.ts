import type { IncomingHttpHeaders } from 'node:http';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { JSON_TYPE, MAX_LINK_LENGTH, NDJSON_TYPE } from '../../src/contract/headers.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import type { HeaderList } from '../../src/http/response/problem.ts';
import { SECURITY_HEADERS } from '../../src/http/response/send.ts';

/** Validates every response of a contract test against the OpenAPI document. */

export interface Exchange {
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface HeaderObject {
  readonly required: boolean;
}

interface ResponseObject {
  readonly headers: Record<string, HeaderObject | { readonly $ref: string }>;
  readonly content?: Record<string, { readonly schema: { readonly $ref?: string } }>;
}

interface Document {
  readonly paths: Record<
    string,
    { readonly get: { readonly responses: Record<string, ResponseObject | { $ref: string }> } }
  >;
  readonly components: {
    readonly headers: Record<string, HeaderObject>;
    readonly responses: Record<string, ResponseObject>;
  };
}

// Its objects are closed here, so that an undeclared field of a response is a fault.
const document = JSON.parse(
  JSON.stringify(openApiDocument(RELEASES), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'properties' in value
      ? { ...value, additionalProperties: false }
      : value,
  ),
) as Document;
const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
ajv.addSchema(document, 'openapi');
const validators = new Map<string, ValidateFunction>();

const TRANSPORT = ['date', 'connection', 'keep-alive', 'content-type', 'content-length', 'transfer-encoding'];
const SECURITY = byName(SECURITY_HEADERS);

function byName(headers: HeaderList): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), headers[i + 1]]] : [])),
  );
}

const templates = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** Browsers read these headers, and scripts do not, so the document omits them. */
function isOfCors(name: string, headers: IncomingHttpHeaders): boolean {
  return name.startsWith('access-control-') || (name === 'vary' && headers.vary === 'Origin');
}

export function expectConformance(exchange: Exchange): void {
  const { method, status, headers, text } = exchange;
  const path = exchange.target.split('?', 1)[0];
  expect(headers, 'headers').to.include(SECURITY);
  expect(headers['x-request-id'], 'X-Request-Id').to.match(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers, 'headers').not.to.have.property('x-powered-by');
  if (path === '/v1' || path.startsWith('/v1/')) {
    expect(headers['service-api-version']).to.match(/^(stable|preview|\d{4}-\d\d-\d\d)$/);
    expect(headers['service-api-latest-version']).to.match(/^\d{4}-\d\d-\d\d$/);
  }
  if (status === 429) expect(headers['retry-after'], 'Retry-After').to.match(/^[1-9]\d*$/);
  if (method === 'HEAD' || status === 204 || status === 304) expect(text).to.equal('');
  else if (status === 200) expect(headers['content-type']).to.be.oneOf([JSON_TYPE, NDJSON_TYPE]);
  else expect(headers['content-type']).to.equal(JSON_TYPE);

  const template = templates.find(({ pattern }) => pattern.test(path));
  if (template !== undefined && method !== 'OPTIONS') expectDocumented(exchange, template.path);
  else if (status >= 400 && method !== 'HEAD') expectValid(['components', 'schemas', 'Problem'], text);
}

function expectDocumented({ method, status, headers, text }: Exchange, path: string): void {
  const { responses } = document.paths[path].get;
  const range = `${String(status)[0]}XX`;
  const key = String(status) in responses ? String(status) : range;
  expect(responses, `responses of ${path}`).to.have.property(key);
  const entry = responses[key];
  const shared = '$ref' in entry ? entry.$ref.replace('#/components/responses/', '') : undefined;
  const response = '$ref' in entry ? document.components.responses[shared ?? ''] : entry;
  const keys =
    shared === undefined ? ['paths', path, 'get', 'responses', key] : ['components', 'responses', shared];

  const documented = new Set(Object.keys(response.headers).map((name) => name.toLowerCase()));
  const undocumented = Object.keys(headers).filter(
    (name) =>
      !documented.has(name) && !TRANSPORT.includes(name) && !(name in SECURITY) && !isOfCors(name, headers),
  );
  expect(undocumented, `undocumented headers of ${status} at ${path}`).to.deep.equal([]);
  for (const [name, header] of Object.entries(response.headers)) {
    const { required } = '$ref' in header ? document.components.headers[name] : header;
    if (required) expect(headers).to.have.property(name.toLowerCase());
  }

  if (status === 200 && method === 'GET') expectLink(headers, text);
  if (response.content === undefined) expect(text).to.equal('');
  else if (method === 'HEAD') return;
  else if (headers['content-type'] === NDJSON_TYPE) expectValidLines(response.content, text);
  else expectValid([...keys, 'content', JSON_TYPE, 'schema'], text);
}

/** The `Link` header of a page is its `nextPage`, up to a length. No other response has one. */
function expectLink(headers: IncomingHttpHeaders, text: string): void {
  const isJson = headers['content-type'] === JSON_TYPE;
  const { nextPage } = (isJson ? JSON.parse(text) : {}) as { readonly nextPage?: string | null };
  const isShort = typeof nextPage === 'string' && nextPage.length <= MAX_LINK_LENGTH;
  expect(headers['link']).to.equal(isShort ? `<${nextPage}>; rel="next"` : undefined);
}

/** Validates each line of a text against the schema of a line, or of the records on a page. */
function expectValidLines(content: NonNullable<ResponseObject['content']>, text: string): void {
  const { $ref = '' } = (content[NDJSON_TYPE] ?? content[JSON_TYPE]).schema;
  const resource = /\/(\w+?)(Page)?$/.exec($ref)?.[1] ?? '';
  const lines = text.split('\n');
  expect(lines.pop(), 'text after the last newline').to.equal('');
  for (const line of lines) expectValid(['components', 'schemas', resource], line);
}

/** Validates a text against the schema at the path `keys` of the document. */
function expectValid(keys: readonly string[], text: string): void {
  const escaped = keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
  const ref = `openapi#/${escaped.join('/')}`;
  const validate = validators.get(ref) ?? ajv.compile({ $ref: ref });
  validators.set(ref, validate);
  expect(validate(JSON.parse(text)), `${ajv.errorsText(validate.errors)} in ${text}`).to.equal(true);
}

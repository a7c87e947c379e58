import {
  DATA_AS_OF_HEADER,
  IGNORED_PARAMETERS_HEADER,
  REQUEST_ID_HEADER,
  SNAPSHOT_ID_HEADER,
} from '../headers.ts';
import { MAX_PER_PAGE, type Schema } from '../parameter.ts';
import { LATEST_VERSION_HEADER, PREVIEW, STABLE, VERSION_HEADER } from '../releases.ts';

/** The parts of the OpenAPI document that operations share: headers, problems and the pagination envelope. */

interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number;
  /** Whether every response that documents the header has it. */
  readonly required: boolean;
}

function always(description: string, example: string | number, schema: Schema = { type: 'string' }): Header {
  return { description, schema, example, required: true };
}

function sometimes(description: string, example: string): Header {
  return { ...always(description, example), required: false };
}

export const RESPONSE_HEADERS = {
  [REQUEST_ID_HEADER]: always('Id of the request, from the client or new.', '4f1c9a52'),
  [VERSION_HEADER]: always(`Version used: \`${STABLE}\`, \`${PREVIEW}\` or the date of a release.`, STABLE),
  [LATEST_VERSION_HEADER]: always('Date of the latest available version.', '2026-10-01'),
  [SNAPSHOT_ID_HEADER]: always('Id of the snapshot that holds the data.', 'snp_7d1f'),
  [DATA_AS_OF_HEADER]: always('Time at which that snapshot was produced.', '2026-11-03T04:00:00Z'),
  [IGNORED_PARAMETERS_HEADER]: sometimes(
    'Query parameters unknown to the operation, percent-encoded and comma-separated; a cut list ends in `...`.',
    'tags.ne, startAt',
  ),
  ETag: always('Tag of this response, for If-None-Match.', '"mE9x2.stable.1x4k"'),
  'Cache-Control': always('Whether the response may be cached; a partial view may not.', 'private, no-cache'),
  Vary: always('Request headers on which the response depends.', `Authorization, ${VERSION_HEADER}`),
  RateLimit: sometimes('Remaining requests, and seconds to the reset.', '"600-in-1min"; r=599; t=60'),
  'RateLimit-Policy': sometimes('Requests per window of seconds.', '"600-in-1min"; q=600; w=60'),
  'Retry-After': always('Seconds to wait.', 5, { type: 'integer', minimum: 1 }),
  Allow: always('Allowed methods.', 'GET, HEAD, OPTIONS'),
} as const satisfies Readonly<Record<string, Header>>;

type HeaderName = keyof typeof RESPONSE_HEADERS;

const EVERYWHERE: readonly HeaderName[] = [
  REQUEST_ID_HEADER,
  VERSION_HEADER,
  LATEST_VERSION_HEADER,
  'Cache-Control',
];
const LIMITED: readonly HeaderName[] = ['RateLimit', 'RateLimit-Policy'];
const READ: readonly HeaderName[] = [...LIMITED, IGNORED_PARAMETERS_HEADER];
const DATA: readonly HeaderName[] = [...READ, SNAPSHOT_ID_HEADER, DATA_AS_OF_HEADER, 'Vary'];

const headerRefs = (names: readonly HeaderName[]): Schema =>
  Object.fromEntries([...EVERYWHERE, ...names].map((name) => [name, componentRef('headers', name)]));

export function componentRef(
  section: 'headers' | 'parameters' | 'responses' | 'schemas',
  name: string,
): Schema {
  return { $ref: `#/components/${section}/${name}` };
}

export function found(description: string, schema: Schema, example: unknown): Schema {
  return {
    description,
    headers: headerRefs([...DATA, 'ETag']),
    content: { 'application/json': { schema, example } },
  };
}

function refused(description: string, headers: readonly HeaderName[], detail: string): Schema {
  const schema = componentRef('schemas', 'Problem');
  return {
    description,
    headers: headerRefs(headers),
    content: { 'application/json': { schema, example: { detail } } },
  };
}

export const SHARED_RESPONSES = {
  BeyondLastPage: { description: 'The requested page is beyond the last one.', headers: headerRefs(DATA) },
  NotModified: {
    description: 'The response with the tag in If-None-Match is still current.',
    headers: headerRefs([...DATA, 'ETag']),
  },
  InvalidRequest: refused(
    'The API key is missing or malformed, the version is invalid, or percent-encoding is broken.',
    READ,
    'The API key is missing; send the header Authorization: Bearer svc:o:<organization_id>:<api_key>.',
  ),
  InvalidQuery: {
    description:
      'The request is invalid, as for every operation; or the query is invalid, and `errors` lists every violation.',
    headers: headerRefs(READ),
    content: {
      'application/json': {
        schema: { oneOf: [componentRef('schemas', 'InvalidQuery'), componentRef('schemas', 'Problem')] },
        example: {
          detail: 'The query is invalid; see errors.',
          errors: [
            { loc: 'query.page', input: '0', ctx: 'must be an integer of at least 1, in digits only' },
          ],
        },
      },
    },
  },
  Forbidden: refused('The API key is unknown, invalid or revoked.', [], 'The API key is revoked.'),
  NotFound: refused(
    'The record, or the event of the sessions, is missing or belongs to another organization; or the operation is not ' +
      'part of the requested version.',
    READ,
    'There is no such record.',
  ),
  MethodNotAllowed: refused(
    'The method is not GET, HEAD or OPTIONS.',
    ['Allow'],
    'The method must be GET, HEAD or OPTIONS.',
  ),
  TooManyRequests: refused(
    'The key has passed its limit, or the service is overloaded or not ready.',
    [...LIMITED, 'Retry-After'],
    'More than 600 requests in a minute; try again in 12 s.',
  ),
  Timeout: refused('The request did not arrive in time.', [], 'The request did not arrive in time.'),
  BodyTooLarge: refused(
    'The request has a body that is too large. Requests need no body.',
    [],
    'The request body is too large; requests need no body.',
  ),
  HeadTooLarge: refused(
    'The request target and headers do not fit in 16 KiB together.',
    [],
    'The request target and headers are too large; they must fit in 16 KiB together.',
  ),
  Unexpected: refused(
    'An unexpected error occurred in the service.',
    READ,
    'An unexpected error occurred in the service.',
  ),
} as const;

const detail: Schema = {
  type: 'string',
  description: 'The reason, and the expected form where there is one.',
};

export const PROBLEM_SCHEMAS = {
  Problem: {
    type: 'object',
    description: 'The reason why a request was refused.',
    properties: { detail },
    required: ['detail'],
    additionalProperties: false,
  },
  InvalidQuery: {
    type: 'object',
    description: 'The reasons why a query was refused.',
    properties: {
      detail,
      errors: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            loc: { type: 'string', pattern: '^query\\.', examples: ['query.page'] },
            input: { type: 'string', examples: ['0'] },
            ctx: { type: 'string', examples: ['must be an integer of at least 1, in digits only'] },
          },
          required: ['loc', 'input', 'ctx'],
          additionalProperties: false,
        },
      },
    },
    required: ['detail', 'errors'],
    additionalProperties: false,
  },
} as const;

export function pageSchema(resource: string): Schema {
  const properties = {
    items: { type: 'array', maxItems: MAX_PER_PAGE, items: componentRef('schemas', resource) },
    page: { type: 'integer', minimum: 1, description: 'Number of this page, from 1.' },
    perPage: { type: 'integer', minimum: 1, maximum: MAX_PER_PAGE, description: 'Requested page size.' },
    totalPages: { type: 'integer', minimum: 0, description: 'Number of pages; 0 when nothing matches.' },
    hasMore: { type: 'boolean', description: 'Whether a page follows.' },
    nextPage: {
      type: ['string', 'null'],
      format: 'uri',
      description: 'URL of the next page; null on the last page.',
    },
  };
  return {
    type: 'object',
    description: `A page of ${resource} records.`,
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

export function pageExample(item: Schema): Schema {
  return { items: [item], page: 1, perPage: 25, totalPages: 1, hasMore: false, nextPage: null };
}

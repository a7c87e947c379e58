import {
  DATA_AS_OF_HEADER,
  IGNORED_PARAMETERS_HEADER,
  REQUEST_ID_HEADER,
  SNAPSHOT_ID_HEADER,
} from '../headers.ts';
import { MAX_PER_PAGE, type Schema } from '../parameter.ts';
import { LATEST_VERSION_HEADER, PREVIEW, STABLE, VERSION_HEADER } from '../releases.ts';

/** The parts of the OpenAPI document that all operations share: headers, problems, the envelope of a page. */

interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number;
  /** Whether it is there on every response that documents it. */
  readonly required: boolean;
}

const always = (
  description: string,
  example: string | number,
  schema: Schema = { type: 'string' },
): Header => ({
  description,
  schema,
  example,
  required: true,
});
const sometimes = (description: string, example: string): Header => ({
  ...always(description, example),
  required: false,
});

export const RESPONSE_HEADERS = {
  [REQUEST_ID_HEADER]: always('Id of the request: the one sent, or a new one.', '4f1c9a52'),
  [VERSION_HEADER]: always(
    `The version used: \`${STABLE}\`, \`${PREVIEW}\` or the date of a release.`,
    STABLE,
  ),
  [LATEST_VERSION_HEADER]: always('Date of the latest version available.', '2026-10-01'),
  [SNAPSHOT_ID_HEADER]: always('Id of the snapshot that the data is from.', 'snp_7d1f'),
  [DATA_AS_OF_HEADER]: always('When that snapshot was produced.', '2026-11-03T04:00:00Z'),
  [IGNORED_PARAMETERS_HEADER]: sometimes(
    'Names of query parameters that the operation does not have: percent-encoded, comma-separated, ending in `...` when cut.',
    'tags.ne, startAt',
  ),
  ETag: always('Tag of this answer, for If-None-Match.', '"mE9x2.stable.1x4k"'),
  'Cache-Control': always('Whether the answer may be kept; a partial view may not.', 'private, no-cache'),
  Vary: always('Request headers that the answer depends on.', `Authorization, ${VERSION_HEADER}`),
  RateLimit: sometimes('Requests left, and seconds until they are given anew.', '"600-in-1min"; r=599; t=60'),
  'RateLimit-Policy': sometimes('Requests allowed for one key.', '"600-in-1min"; q=600; w=60'),
  'Retry-After': always('Seconds to wait.', 5, { type: 'integer', minimum: 1 }),
  Allow: always('The methods that are defined.', 'GET, HEAD, OPTIONS'),
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
  BeyondLastPage: { description: 'The page is beyond the last one.', headers: headerRefs(DATA) },
  NotModified: {
    description: 'The answer is still the one that If-None-Match names.',
    headers: headerRefs([...DATA, 'ETag']),
  },
  InvalidRequest: refused(
    'The API key is missing or not of its form, the version is not valid, or percent-encoding is broken.',
    READ,
    'The API key is missing; it must read: Authorization: Bearer svc:o:<organization_id>:<api_key>.',
  ),
  InvalidQuery: {
    description:
      'As for every operation; or the query is not valid, and `errors` has all that is wrong with it.',
    headers: headerRefs(READ),
    content: {
      'application/json': {
        schema: { oneOf: [componentRef('schemas', 'InvalidQuery'), componentRef('schemas', 'Problem')] },
        example: {
          detail: 'The query is not valid; errors has what is wrong with it.',
          errors: [{ loc: 'query.page', input: '0', ctx: 'must be an integer of 1 or more, in digits only' }],
        },
      },
    },
  },
  Forbidden: refused('The API key is not known, or revoked.', [], 'The API key is revoked.'),
  NotFound: refused(
    'The record, or the event whose sessions are asked for, is missing or of another organization; or the operation ' +
      'is not in the version asked for.',
    READ,
    'There is no such record.',
  ),
  MethodNotAllowed: refused(
    'For methods other than GET, HEAD and OPTIONS.',
    ['Allow'],
    'Only GET, HEAD and OPTIONS are defined here.',
  ),
  TooManyRequests: refused(
    'Too many requests of this key or in all, or the service is not ready yet.',
    [...LIMITED, 'Retry-After'],
    'More than 600 requests in a minute; try again in 12 s.',
  ),
  Timeout: refused('The request did not arrive in time.', [], 'The request did not arrive in time.'),
  BodyTooLarge: refused(
    'The request has a body, which is of no use, and too large a one.',
    [],
    'The body of the request is too large.',
  ),
  HeadTooLarge: refused(
    'Target and headers are larger than 16 KiB together.',
    [],
    'The target and the headers of the request are too large.',
  ),
  Unexpected: refused('Something went wrong on our side.', READ, 'Something went wrong on our side.'),
} as const;

const detail: Schema = { type: 'string', description: 'What is wrong, and what would be right.' };

export const PROBLEM_SCHEMAS = {
  Problem: {
    type: 'object',
    description: 'Why a request was refused.',
    properties: { detail },
    required: ['detail'],
    additionalProperties: false,
  },
  InvalidQuery: {
    type: 'object',
    description: 'Why a query was refused.',
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
            ctx: { type: 'string', examples: ['must be an integer of 1 or more, in digits only'] },
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
    page: { type: 'integer', minimum: 1, description: 'This page, from 1.' },
    perPage: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_PER_PAGE,
      description: 'Records a page, as asked for.',
    },
    totalPages: { type: 'integer', minimum: 0, description: 'Number of pages; 0 when nothing matches.' },
    hasMore: { type: 'boolean', description: 'Whether there is a page after this one.' },
    nextPage: {
      type: ['string', 'null'],
      format: 'uri',
      description: 'Link to that page; null on the last one.',
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

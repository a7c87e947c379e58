import {
  DATA_AS_OF_HEADER,
  IGNORED_PARAMETERS_HEADER,
  JSON_TYPE,
  NDJSON_TYPE,
  PREFERENCE_APPLIED_HEADER,
  RECORD_COUNT_HEADER,
  REQUEST_ID_HEADER,
  REQUEST_ID_PATTERN,
  SNAPSHOT_ID_HEADER,
  STRICT_HANDLING,
  VARY,
} from '../headers.ts';
import { MAX_PER_PAGE, PAGE, type Schema } from '../parameter.ts';
import { LATEST_VERSION_HEADER, PREVIEW, STABLE, VERSION_HEADER } from '../releases.ts';
import { COLLECTION_NAMES, RESOURCES } from '../resources.ts';

/** The responses of the OpenAPI document: headers, problems, pages and lines of changes. */

/** Describes a header that every response has which documents it. */
function always(description: string, example: string | number, schema: Schema = { type: 'string' }): Schema {
  return { description, schema, example, required: true };
}

function sometimes(description: string, example: string | number, schema?: Schema): Schema {
  return { ...always(description, example, schema), required: false };
}

const REQUEST_ID_SCHEMA: Schema = { type: 'string', pattern: REQUEST_ID_PATTERN };

/** Content digest, version and hash of origin and target: see `http/response/etag.ts`. */
const EXAMPLE_TAG = '"n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg.stable.2851307223"';

/** The response headers that scripts of other origins may read. */
export const RESPONSE_HEADERS = {
  [REQUEST_ID_HEADER]: always('Request id, of the client or generated.', '4f1c9a52', REQUEST_ID_SCHEMA),
  [VERSION_HEADER]: always(`Version used: \`${STABLE}\`, \`${PREVIEW}\` or the date of a release.`, STABLE),
  [LATEST_VERSION_HEADER]: always('Date of the latest release.', '2026-10-01'),
  [SNAPSHOT_ID_HEADER]: always('Id of the source snapshot.', '6f1c2a34-9b7e-4d05-8c61-2e5a7f90b3d8'),
  [DATA_AS_OF_HEADER]: always('Production time of the snapshot.', '2026-11-03T04:00:00Z'),
  [IGNORED_PARAMETERS_HEADER]: sometimes(
    'Query parameters unknown to the operation, percent-encoded and comma-separated; a truncated list ends in `...`.',
    'tags.ne, startAt',
  ),
  [PREFERENCE_APPLIED_HEADER]: sometimes('Preference that was followed (RFC 7240).', STRICT_HANDLING),
  [RECORD_COUNT_HEADER]: sometimes(`Number of records; only of a response in ${NDJSON_TYPE}.`, 20000, {
    type: 'integer',
    minimum: 0,
  }),
  ETag: always('Tag of this response, for If-None-Match. Each content coding has its own.', EXAMPLE_TAG),
  'Content-Encoding': sometimes(
    'Coding of a body over 1 kB, if Accept-Encoding accepts one: `zstd` or `gzip`.',
    'gzip',
  ),
  Link: sometimes(
    'URL of the next page, as in `nextPage`; absent when the URL is longer than 2,000 characters.',
    '<https://tickets.example.org/v1/tickets?page=2&perPage=25>; rel="next"',
  ),
  'Cache-Control': always('Caching rules. Partial views must not be stored.', 'private, no-cache'),
  Vary: always('Request headers on which the response depends.', VARY),
  RateLimit: sometimes('Requests left, and seconds until the window resets.', '"600-in-1min"; r=599; t=60'),
  'RateLimit-Policy': sometimes('Allowed requests, and seconds per window.', '"600-in-1min"; q=600; w=60'),
  'Retry-After': always('Seconds to wait.', 5, { type: 'integer', minimum: 1 }),
  Allow: always('Allowed methods.', 'GET, HEAD, OPTIONS'),
} as const satisfies Readonly<Record<string, Schema>>;

export type ResponseHeaderName = keyof typeof RESPONSE_HEADERS;

/** The headers that every response of the API may have. */
const API: readonly ResponseHeaderName[] = [
  REQUEST_ID_HEADER,
  VERSION_HEADER,
  LATEST_VERSION_HEADER,
  'Cache-Control',
];
const READ: readonly ResponseHeaderName[] = [
  ...API,
  'RateLimit',
  'RateLimit-Policy',
  IGNORED_PARAMETERS_HEADER,
  PREFERENCE_APPLIED_HEADER,
];
const DATA: readonly ResponseHeaderName[] = [...READ, SNAPSHOT_ID_HEADER, DATA_AS_OF_HEADER, 'Vary'];

export function componentRef(
  section: 'headers' | 'parameters' | 'responses' | 'schemas',
  name: string,
): Schema {
  return { $ref: `#/components/${section}/${name}` };
}

export function headerRefs(names: readonly ResponseHeaderName[]): Schema {
  return Object.fromEntries(names.map((name) => [name, componentRef('headers', name)]));
}

export function response(
  description: string,
  headers: readonly ResponseHeaderName[],
  content?: Schema,
): Schema {
  return { description, headers: headerRefs(headers), ...(content && { content }) };
}

export function jsonContent(schema: Schema, example: unknown): Schema {
  return { [JSON_TYPE]: { schema, example } };
}

export function foundRecord(resource: string, record: Schema): Schema {
  const content = jsonContent(componentRef('schemas', resource), record);
  return response('The record.', [...DATA, 'ETag', 'Content-Encoding'], content);
}

/**
 * Returns the response of a list. The description alone has the stream of lines: as a second media type, it would make
 * every body text or a page for clients whose types are the union of all media types (openapi-fetch).
 */
export function foundList(resource: string, item: Schema): Schema {
  const page = { items: [item], page: 1, perPage: 25, totalPages: 1, hasMore: false, nextPage: null };
  return response(
    `A page. With \`Accept: ${NDJSON_TYPE}\`, a stream of all records that match, in list order: each is one line, in ` +
      'JSON as in `items`.',
    [...DATA, RECORD_COUNT_HEADER, 'ETag', 'Link', 'Content-Encoding'],
    jsonContent(componentRef('schemas', `${resource}Page`), page),
  );
}

/** Returns the response of a stream of changes, whose schema is that of a line. */
export function foundChanges(): Schema {
  const content = { [NDJSON_TYPE]: { schema: componentRef('schemas', 'ChangeLine') } };
  return response('The changes, one in each line.', [...DATA, 'Content-Encoding'], content);
}

function refused(description: string, headers = API, detail = description): Schema {
  return response(description, headers, jsonContent(componentRef('schemas', 'Problem'), { detail }));
}

export const SHARED_RESPONSES = {
  BeyondLastPage: response('The requested page is beyond the last one.', DATA),
  NotModified: response('The response with the tag in If-None-Match is still current.', [...DATA, 'ETag']),
  InvalidRequest: response(
    'The API key is missing or malformed; the version, the percent-encoding of the path or the HTTP syntax is invalid; ' +
      `Transfer-Encoding does not end in \`chunked\`; a request for ${NDJSON_TYPE} uses HTTP/1.0; or the query is ` +
      'invalid, and `errors` lists every violation. An error at `query.snapshot` means that the data of a walk is no longer ' +
      'available: begin again without this parameter.',
    READ,
    jsonContent(componentRef('schemas', 'Problem'), {
      detail: 'The query is invalid; see errors.',
      errors: [{ loc: 'query.page', input: '0', ctx: PAGE.ctx('minimum', '0') }],
    }),
  ),
  Forbidden: refused('The API key is unknown, invalid, expired or revoked.', API, 'The API key is revoked.'),
  NotFound: refused(
    'The record, or the event of the sessions, is missing or belongs to another organization; or the operation is not ' +
      'part of the requested version.',
    READ,
    'There is no such record.',
  ),
  MethodNotAllowed: refused(
    'The method is not GET, HEAD or OPTIONS.',
    [...API, 'Allow'],
    'The method must be GET, HEAD or OPTIONS.',
  ),
  TooManyRequests: refused(
    `The key has exceeded its rate limit, or already has two open streams (${NDJSON_TYPE}); the service is overloaded or not ` +
      'ready; or the data of a `nextPage` link or of a token is not loaded yet.',
    [...READ, 'Retry-After'],
    'More than 600 requests in a minute; try again in 12 s.',
  ),
  Timeout: refused('The request did not arrive in time.'),
  BodyTooLarge: refused(
    'The request body has more than 64 kB, or Transfer-Encoding. Send requests without a body.',
    API,
    'The request body is too large; send no body.',
  ),
  HeadTooLarge: refused('The request target and headers exceed 16 KiB in total.'),
  Unexpected: refused('An unexpected error occurred in the service.', READ),
} as const;

type Properties = Readonly<Record<string, Schema>>;

/**
 * Returns the schema of an object that always has its properties, except the optional ones, and may have others. Without
 * `additionalProperties`, clients of openapi-generator in Java and Go refuse the fields that a later release adds.
 */
export function openObject(properties: Properties, description?: string, optional: Properties = {}): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: true,
  };
}

const detail: Schema = { type: 'string', description: 'The reason, and the expected form, if any.' };
const Violation = openObject({
  loc: { type: 'string', pattern: '^query[.]', examples: ['query.page'] },
  input: { type: 'string', examples: ['0'] },
  ctx: { type: 'string', examples: [PAGE.ctx('minimum', '0')] },
});

export const PROBLEM_SCHEMAS = {
  Violation,
  Problem: openObject({ detail }, 'The reasons why a request was refused.', {
    errors: {
      type: 'array',
      minItems: 1,
      items: componentRef('schemas', 'Violation'),
      description: 'Every violation; of an invalid query only.',
    },
  }),
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
  return openObject(properties, `A page of ${resource} records.`);
}

const text = (description: string): Schema => ({ type: 'string', minLength: 1, description });
const count: Schema = { type: 'integer', minimum: 0 };

function line(change: string, description: string, fields: Properties = {}): Schema {
  return openObject({ change: { type: 'string', const: change }, ...fields }, description);
}

const ChangeReset = line('reset', 'First line of all records: remove the records of the copy.');

const ChangeDelete = line('delete', 'Remove a record. The copy may lack it.', {
  collection: { type: 'string', enum: COLLECTION_NAMES },
  id: text('Identifier of the record.'),
});

const ChangeEnd = line('end', 'Last line. Without it, the stream is not whole.', {
  next: text('Token for the next request.'),
  dataAsOf: text('Production time of the snapshot.'),
  counts: {
    type: 'object',
    description:
      'Number of records in the snapshot, of each collection that was requested; with `eventIds`, of these events.',
    properties: Object.fromEntries(COLLECTION_NAMES.map((name) => [name, count])),
    additionalProperties: true,
  },
});

const puts = Object.entries(RESOURCES).map(([collection, { name }]): [string, Schema] => [
  `${name}Put`,
  line('put', `Add a record of ${collection}, or replace the one with its id.`, {
    collection: { type: 'string', const: collection },
    id: text('Identifier of the record.'),
    ...(collection === 'sessions' && { eventId: text('Identifier of the event.') }),
    record: componentRef('schemas', name),
  }),
]);
const lines = { ChangeReset, ChangeDelete, ...Object.fromEntries(puts), ChangeEnd };
const oneOf = Object.keys(lines).map((name) => componentRef('schemas', name));

/** The schema `ChangeLine`, and those that it refers to. In Rust, `Change` is the type of its property `change`. */
export const CHANGE_SCHEMAS = {
  ChangeLine: { description: 'A line of a stream of changes.', oneOf },
  ...lines,
} as const;

import {
  exampleOf,
  type Field,
  type Fields,
  fieldsIn,
  type Resource,
  type Shape,
  shapeSchema,
} from '../field.ts';
import {
  IF_NONE_MATCH_HEADER,
  IGNORED_PARAMETERS_HEADER,
  PREFER_HEADER,
  REQUEST_ID_HEADER,
  REQUEST_ID_PATTERN,
  STRICT_HANDLING,
} from '../headers.ts';
import {
  type ChangesOperation,
  type Operation,
  OPERATIONS,
  type Parameter,
  parametersOf,
  type PathParameter,
  TAGS,
} from '../operations.ts';
import { isList, type ParameterKind, type Schema, splitList } from '../parameter.ts';
import { PREVIEW, type Release, STABLE, VERSION_HEADER } from '../releases.ts';
import { RESOURCES } from '../resources.ts';
import { DATE_PATTERN, SERVED_PATTERNS } from '../timestamp.ts';
import {
  PUBLIC_PATHS,
  PUBLIC_RESPONSES,
  PUBLIC_TAG,
  publicPathItem,
  type PublicPathName,
} from './public-paths.ts';
import {
  CHANGE_SCHEMAS,
  componentRef,
  foundChanges,
  foundList,
  foundRecord,
  openObject,
  pageSchema,
  PROBLEM_SCHEMAS,
  RESPONSE_HEADERS,
  SHARED_RESPONSES,
} from './responses.ts';

const VERSION_PATTERN = `^(${STABLE}|${PREVIEW}|${DATE_PATTERN})$`;

/**
 * Builds the OpenAPI 3.1 document of the API from the contract.
 * @param publicPaths those that are served
 */
export function openApiDocument(
  releases: readonly Release[],
  baseUrl = '',
  publicPaths: readonly PublicPathName[] = Object.keys(PUBLIC_PATHS) as PublicPathName[],
): Schema {
  const resources = Object.values(RESOURCES);
  return {
    openapi: '3.1.0',
    info: {
      // Generators derive a package from these. npm and Python accept dates without leading zeros, separated by dots.
      title: 'Foyer API',
      version: (releases.at(-1)?.date ?? '0000-00-00').split('-').map(Number).join('.'),
      description: [
        "Read-only access to an organization's own events, tickets, orders and catalog.",
        'Every request of data needs an API key of the organization, and reads only records of that organization.',
        `The guide, at \`${baseUrl}${PUBLIC_PATHS.guide}\`, leads from the first call to a copy of the data.`,
        'HEAD returns the headers of GET, and OPTIONS returns the allowed methods.',
        'Any release may add operations, optional parameters, headers, fields, and values where none are listed: ignore unknown ones.',
      ].join(' '),
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: baseUrl || '/' }],
    security: [{ apiKey: [] }],
    tags: [...Object.entries(TAGS).map(([name, description]) => ({ name, description })), PUBLIC_TAG],
    paths: Object.fromEntries([
      ...OPERATIONS.map((operation) => [operation.path, { get: operationObject(operation, releases) }]),
      ...publicPaths.map((name) => [PUBLIC_PATHS[name], publicPathItem(name)]),
    ]),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc:o:<organization_id>:<api_key>',
          description: 'API key of an organization.',
        },
      },
      parameters: REQUEST_HEADERS,
      headers: RESPONSE_HEADERS,
      responses: { ...SHARED_RESPONSES, ...PUBLIC_RESPONSES },
      schemas: {
        ...Object.fromEntries(resources.flatMap((resource) => Object.entries(resourceSchemas(resource)))),
        ...Object.fromEntries(resources.map(({ name }) => [`${name}Page`, pageSchema(name)])),
        ...CHANGE_SCHEMAS,
        ...PROBLEM_SCHEMAS,
      },
    },
  };
}

function requestHeader(name: string, description: string, schema: Schema = {}): Schema {
  return { name, in: 'header', description, schema: { type: 'string', ...schema } };
}

const REQUEST_HEADERS = {
  Version: requestHeader(
    VERSION_HEADER,
    `Requested version: \`${STABLE}\`, \`${PREVIEW}\`, or a release date. Before that date, it selects the upcoming ` +
      `version; from that date on, \`${STABLE}\`.`,
    { pattern: VERSION_PATTERN, default: STABLE },
  ),
  PreviewVersion: {
    ...requestHeader(
      VERSION_HEADER,
      `This operation is part of \`${PREVIEW}\` only, and may change or be withdrawn at any time.`,
      { pattern: VERSION_PATTERN, default: PREVIEW },
    ),
    required: true,
  },
  RequestId: requestHeader(
    REQUEST_ID_HEADER,
    `Id of the request. The service replaces a value that does not match \`${REQUEST_ID_PATTERN}\`.`,
  ),
  Prefer: requestHeader(
    PREFER_HEADER,
    `With \`${STRICT_HANDLING}\`, unknown parameters are 400. By default, \`${IGNORED_PARAMETERS_HEADER}\` names them.`,
  ),
  IfNoneMatch: requestHeader(
    IF_NONE_MATCH_HEADER,
    'ETag of a cached response; the service returns 304 if the response is unchanged.',
  ),
};

function operationObject(operation: Operation, releases: readonly Release[]): Schema {
  const { id, tag, summary, kind, pathParameter, description } = operation;
  const release = releases.find(({ operations }) => operations.includes(id));
  const stage =
    release === undefined
      ? `Requires \`${VERSION_HEADER}: ${PREVIEW}\`.`
      : `In version \`${STABLE}\` from ${release.date}.`;
  return {
    operationId: id,
    tags: [tag],
    summary,
    // The explorer shows the first paragraph.
    description: `${description}\n\n${stage}`,
    parameters: [
      ...(pathParameter === undefined ? [] : [pathParameterObject(pathParameter)]),
      ...parametersOf(operation).map(parameterObject),
      componentRef('parameters', release === undefined ? 'PreviewVersion' : 'Version'),
      componentRef('parameters', 'RequestId'),
      componentRef('parameters', 'Prefer'),
      ...(kind === 'changes' ? [] : [componentRef('parameters', 'IfNoneMatch')]),
    ],
    responses: responsesOf(operation),
  };
}

function responsesOf(operation: Operation): Schema {
  const { kind } = operation;
  const shared = (name: keyof typeof SHARED_RESPONSES) => componentRef('responses', name);
  return {
    200: kind === 'changes' ? foundChanges() : foundRecords(operation),
    ...(kind === 'list' && { 204: shared('BeyondLastPage') }),
    ...(kind !== 'changes' && { 304: shared('NotModified') }),
    400: shared('InvalidRequest'),
    403: shared('Forbidden'),
    404: shared('NotFound'),
    405: shared('MethodNotAllowed'),
    408: shared('Timeout'),
    413: shared('BodyTooLarge'),
    429: shared('TooManyRequests'),
    431: shared('HeadTooLarge'),
    500: shared('Unexpected'),
  };
}

function foundRecords({ kind, collection }: Exclude<Operation, ChangesOperation>): Schema {
  const { name, variants } = RESOURCES[collection];
  const [fields] = Object.values(variants);
  return (kind === 'list' ? foundList : foundRecord)(name, exampleOf(fields));
}

function pathParameterObject({ name, description, example }: PathParameter): Schema {
  const schema = { type: 'string', minLength: 1, examples: [example] };
  return { name, in: 'path', required: true, description, schema };
}

function parameterObject({ name, kind, description, example }: Parameter): Schema {
  return {
    name,
    in: 'query',
    description,
    // Documentation tools send the `example` of a parameter, but not those of a schema. All filters at once match nothing.
    schema: { ...kind.schema, ...(example !== undefined && { examples: [exampleValue(kind, example)] }) },
    // The service also accepts a list in parts, which some generated clients send nevertheless.
    ...(isList(kind) && { style: 'form', explode: false }),
  };
}

/** Converts the text of an example to the type of its schema. */
function exampleValue(kind: ParameterKind, text: string): unknown {
  if (isList(kind)) return splitList(text);
  return kind.schema['type'] === 'string' ? text : JSON.parse(text);
}

/** Returns the JSON Schema (2020-12) of a served object. Every field is present, null or `[]` without a value. */
function servedSchema(fields: Fields): Schema {
  return openObject(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
  );
}

/** Returns the schemas of a resource and its objects by name. Variants have one each, which one discriminates by `type`. */
function resourceSchemas({ name, description, variants }: Resource): Record<string, Schema> {
  const entries = Object.entries(variants);
  const shapes = entries.flatMap(([, fields]) => Array.from(fieldsIn(fields), ([, { shape }]) => shape));
  const objects = shapes
    .map((shape) => (shape.kind === 'list' ? shape.items : shape))
    .filter((one) => 'name' in one);
  const nested = Object.fromEntries(
    objects.map((object) => [object.name, 'fields' in object ? servedSchema(object.fields) : ANY_OBJECT]),
  );
  if (entries.length === 1) return { [name]: { description, ...servedSchema(entries[0][1]) }, ...nested };
  const nameOf = (type: string) => type[0] + type.slice(1).toLowerCase() + name;
  const refOf = (type: string) => `#/components/schemas/${nameOf(type)}`;
  return {
    [name]: {
      description,
      oneOf: entries.map(([type]) => ({ $ref: refOf(type) })),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(entries.map(([type]) => [type, refOf(type)])),
      },
    },
    ...Object.fromEntries(entries.map(([type, fields]) => [nameOf(type), servedSchema(fields)])),
    ...nested,
  };
}

const ANY_OBJECT: Schema = { type: 'object', additionalProperties: true };

function fieldSchema({ shape, description, example, required }: Field): Schema {
  const schema = shapeSchema(shape, ({ name }) => componentRef('schemas', name), keywordsOf);
  const isNullable = !required && shape.kind !== 'list';
  // The example of an object consists of those of its fields. Most generators read a nullable object in this form only.
  if ('$ref' in schema)
    return { ...(isNullable ? { oneOf: [schema, { type: 'null' }] } : schema), description };
  return {
    ...schema,
    ...(isNullable && { type: [schema['type'], 'null'] }),
    description,
    examples: [example],
  };
}

function keywordsOf(shape: Shape): Schema {
  if (shape.kind === 'text' && shape.nonEmpty) return { minLength: 1 };
  if (shape.kind === 'timestamp') return { pattern: SERVED_PATTERNS[shape.form] };
  // Without a format, oapi-codegen generates numbers of 32 bits, which cannot represent all amounts.
  return shape.kind === 'number' ? { format: 'double' } : {};
}

import { JSON_TYPE, REQUEST_ID_HEADER } from '../headers.ts';
import type { Schema } from '../parameter.ts';
import {
  openObject,
  componentRef,
  headerRefs,
  jsonContent,
  response,
  RESPONSE_HEADERS,
  type ResponseHeaderName,
  SHARED_RESPONSES,
} from './responses.ts';

/** The paths that need no key, have no version, and return no data. A configuration serves some of them. */
export const PUBLIC_PATHS = {
  index: '/',
  health: '/healthz',
  openApi: '/openapi.json',
  openApi30: '/openapi-3.0.json',
  docs: '/docs',
  explorer: '/explorer',
  guide: '/docs/guide',
} as const;

export const SERVICE = { name: 'Foyer', description: 'Event ticketing read API' } as const;

export type PublicPathName = keyof typeof PUBLIC_PATHS;

interface PublicPath {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly content: Schema;
  /** Whether responses are compressed, and have a tag. */
  readonly isDocument?: true;
  /** Whether a browser may be redirected to a page. */
  readonly redirects?: true;
}

const DESCRIPTIONS: Readonly<Record<PublicPathName, PublicPath>> = {
  index: {
    operationId: 'getIndex',
    summary: 'List the public paths',
    description:
      'Returns the name of the service, and the addresses of its documents. A browser is redirected to the explorer where it is served.',
    content: jsonContent(
      { type: 'object', additionalProperties: { type: 'string' } },
      {
        ...SERVICE,
        docs: PUBLIC_PATHS.docs,
        guide: PUBLIC_PATHS.guide,
        openapi: PUBLIC_PATHS.openApi,
        health: PUBLIC_PATHS.health,
      },
    ),
    redirects: true,
  },
  health: {
    operationId: 'getHealth',
    summary: 'Check the health',
    description: 'Reports that the process responds, for load balancers.',
    content: jsonContent(openObject({ status: { type: 'string' } }), { status: 'ok' }),
  },
  openApi: {
    operationId: 'getOpenApiDocument',
    summary: 'Retrieve the OpenAPI document',
    description: 'Returns this document, in OpenAPI 3.1.',
    content: { [JSON_TYPE]: { schema: { type: 'object' } } },
    isDocument: true,
  },
  openApi30: {
    operationId: 'getOpenApi30Document',
    summary: 'Retrieve the OpenAPI document in OpenAPI 3.0',
    description: 'Returns this document in OpenAPI 3.0.3, for gateways and generators that do not read 3.1.',
    content: { [JSON_TYPE]: { schema: { type: 'object' } } },
    isDocument: true,
  },
  docs: {
    operationId: 'getDocs',
    summary: 'Open the documentation',
    description: 'Returns a page that shows this document and can send requests.',
    content: { 'text/html': { schema: { type: 'string' } } },
    isDocument: true,
  },
  explorer: {
    operationId: 'getExplorer',
    summary: 'Open the explorer',
    description: 'Returns a page that shows the data of an organization after a sign-in with its API key.',
    content: { 'text/html': { schema: { type: 'string' } } },
    isDocument: true,
  },
  guide: {
    operationId: 'getGuide',
    summary: 'Open the guide',
    description:
      'Returns a page that leads from the first call to a copy of the data, with programs to download.',
    content: { 'text/html': { schema: { type: 'string' } } },
    isDocument: true,
  },
};

export const PUBLIC_TAG = { name: 'Service', description: 'Health and documents. They need no key.' };

const ALWAYS: readonly ResponseHeaderName[] = [REQUEST_ID_HEADER, 'Cache-Control'];
const NEGOTIATED: readonly ResponseHeaderName[] = [...ALWAYS, 'Vary'];
const DOCUMENT: readonly ResponseHeaderName[] = [...ALWAYS, 'ETag', 'Vary', 'Content-Encoding'];

export const PUBLIC_RESPONSES: Readonly<Record<'Redirected' | 'Refused' | 'Failed', Schema>> = {
  Redirected: {
    description: 'A browser is redirected to a page.',
    headers: {
      ...headerRefs(NEGOTIATED),
      Location: { description: 'Address of the page.', schema: { type: 'string' }, required: true },
    },
    content: DESCRIPTIONS.index.content,
  },
  Refused: {
    ...SHARED_RESPONSES.MethodNotAllowed,
    description:
      'The method is not GET, HEAD or OPTIONS, the request is malformed, too large or too late, or the service is ' +
      'overloaded.',
    headers: {
      ...headerRefs(ALWAYS),
      Allow: { ...RESPONSE_HEADERS.Allow, required: false },
      'Retry-After': { ...RESPONSE_HEADERS['Retry-After'], required: false },
    },
  },
  Failed: { ...SHARED_RESPONSES.Unexpected, headers: headerRefs(ALWAYS) },
};

export function publicPathItem(name: PublicPathName): Schema {
  const { operationId, summary, description, content, isDocument, redirects } = DESCRIPTIONS[name];
  const responses = {
    200: isDocument
      ? response('The document.', DOCUMENT, content)
      : response('The object.', redirects ? NEGOTIATED : ALWAYS, content),
    ...(redirects && { 302: componentRef('responses', 'Redirected') }),
    ...(isDocument && { 304: response('The document is unchanged.', DOCUMENT) }),
    '4XX': componentRef('responses', 'Refused'),
    '5XX': componentRef('responses', 'Failed'),
  };
  const parameters = [
    componentRef('parameters', 'RequestId'),
    ...(isDocument ? [componentRef('parameters', 'IfNoneMatch')] : []),
  ];
  const tags = [PUBLIC_TAG.name];
  return { get: { operationId, tags, summary, description, security: [], parameters, responses } };
}

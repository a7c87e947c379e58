import { JSON_TYPE, REQUEST_ID_HEADER } from '../headers.ts';
import type { Schema } from '../parameter.ts';
import {
  closedObject,
  componentRef,
  headerRefs,
  problemContent,
  RESPONSE_HEADERS,
  type ResponseHeaderName,
} from './responses.ts';

/** The paths that need no key, have no version, and return no data. A configuration serves some of them. */
export const PUBLIC_PATHS = {
  index: '/',
  health: '/healthz',
  openApi: '/openapi.json',
  docs: '/docs',
  explorer: '/explorer',
} as const;

export type PublicPathName = keyof typeof PUBLIC_PATHS;

interface PublicPath {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly content: Readonly<Record<string, Schema>>;
  /** Whether responses are compressed, and have a tag. */
  readonly isDocument: boolean;
  /** Whether a browser may be redirected to a page. */
  readonly redirects?: boolean;
}

const DESCRIPTIONS: Readonly<Record<PublicPathName, PublicPath>> = {
  index: {
    operationId: 'getIndex',
    summary: 'List the public paths',
    description:
      'Returns the name of the service, and the addresses of its documents. A browser is redirected to the explorer where it is served.',
    content: {
      [JSON_TYPE]: {
        schema: { type: 'object', additionalProperties: { type: 'string' } },
        example: {
          name: 'Foyer',
          description: 'Event ticketing read API',
          docs: PUBLIC_PATHS.docs,
          openapi: PUBLIC_PATHS.openApi,
          health: PUBLIC_PATHS.health,
        },
      },
    },
    isDocument: false,
    redirects: true,
  },
  health: {
    operationId: 'getHealth',
    summary: 'Check the health',
    description: 'Reports that the process responds, for load balancers.',
    content: {
      [JSON_TYPE]: {
        schema: closedObject({ status: { type: 'string' } }),
        example: { status: 'ok' },
      },
    },
    isDocument: false,
  },
  openApi: {
    operationId: 'getOpenApiDocument',
    summary: 'Retrieve the OpenAPI document',
    description: 'Returns this document.',
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
};

export const PUBLIC_TAG = { name: 'Service', description: 'Health and documents. They need no key.' };

const EVERYWHERE: readonly ResponseHeaderName[] = [REQUEST_ID_HEADER, 'Cache-Control'];
const NEGOTIATED: readonly ResponseHeaderName[] = [...EVERYWHERE, 'Vary'];
const DOCUMENT: readonly ResponseHeaderName[] = [...EVERYWHERE, 'ETag', 'Vary', 'Content-Encoding'];

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
    description:
      'The method is not GET, HEAD or OPTIONS, the request is malformed, too large or too late, or the service is ' +
      'overloaded.',
    headers: {
      ...headerRefs(EVERYWHERE),
      Allow: { ...RESPONSE_HEADERS.Allow, required: false },
      'Retry-After': { ...RESPONSE_HEADERS['Retry-After'], required: false },
    },
    content: problemContent('The method must be GET, HEAD or OPTIONS.'),
  },
  Failed: {
    description: 'An unexpected error occurred in the service.',
    headers: headerRefs(EVERYWHERE),
    content: problemContent('An unexpected error occurred in the service.'),
  },
};

export function publicPathItem(name: PublicPathName): Schema {
  const { operationId, summary, description, content, isDocument, redirects } = DESCRIPTIONS[name];
  const responses = {
    200: {
      description: isDocument ? 'The document.' : 'The object.',
      headers: headerRefs(isDocument ? DOCUMENT : redirects ? NEGOTIATED : EVERYWHERE),
      content,
    },
    ...(redirects && { 302: componentRef('responses', 'Redirected') }),
    ...(isDocument && { 304: { description: 'The document is unchanged.', headers: headerRefs(DOCUMENT) } }),
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

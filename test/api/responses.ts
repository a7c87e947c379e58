import { NDJSON_TYPE } from '../../src/contract/headers.ts';
import type { RequestOptions } from '../support/test-api.ts';

type Kind = readonly [what: string, status: number, target: string, options?: RequestOptions];

/** The kinds of responses of a list. */
export const responsesOf = (path: string): readonly Kind[] => [
  ['a page', 200, path],
  ['HEAD', 200, path, { method: 'head' }],
  ['a stream', 200, path, { headers: { Accept: NDJSON_TYPE } }],
  ['a page beyond the last', 204, `${path}?page=99`],
  ['an unchanged page', 304, path, { headers: { 'If-None-Match': '*' } }],
  ['an invalid query', 400, `${path}?page=0&Vary`],
  ['a missing key', 400, path, { as: undefined }],
  ['a revoked key', 403, path, { as: 'revoked' }],
  ['an organization that is not loaded', 429, path, { as: 'absent' }],
];

/** The kinds of responses below /v1. */
export const RESPONSES: readonly Kind[] = [
  ...responsesOf('/v1/tickets'),
  ['a record', 200, '/v1/events/evt_a'],
  ['a missing record', 404, '/v1/events/none'],
  ['an unknown path', 404, '/v1/none?x', { as: undefined }],
  ['a path with invalid encoding', 400, '/v1/events/%ff'],
  ['OPTIONS', 204, '/v1/tickets', { method: 'options' }],
  ['another method', 405, '/v1/tickets', { method: 'post' }],
];

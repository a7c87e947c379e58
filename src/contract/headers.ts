import { VERSION_HEADER } from './releases.ts';

/** Headers, and media types and ids in headers. `releases.ts` has the version headers. */

export const REQUEST_ID_HEADER = 'X-Request-Id';
export const SNAPSHOT_ID_HEADER = 'Service-Snapshot-Id';
export const DATA_AS_OF_HEADER = 'Service-Data-As-Of';
export const RECORD_COUNT_HEADER = 'Service-Record-Count';
export const IGNORED_PARAMETERS_HEADER = 'Service-API-Ignored-Parameters';
export const IF_NONE_MATCH_HEADER = 'If-None-Match';
/** Preferences of a client, and the one that the service has followed (RFC 7240). */
export const PREFER_HEADER = 'Prefer';
export const PREFERENCE_APPLIED_HEADER = 'Preference-Applied';
export const STRICT_HANDLING = 'handling=strict';

/** The request headers that the API reads, except those that browsers always permit, such as Accept. */
export const REQUEST_HEADER_NAMES = [
  'Authorization',
  VERSION_HEADER,
  REQUEST_ID_HEADER,
  IF_NONE_MATCH_HEADER,
  PREFER_HEADER,
] as const;

/** The request headers on which the response with data depends. */
export const VARY = `Authorization, ${VERSION_HEADER}, Accept, Accept-Encoding, ${PREFER_HEADER}`;

/**
 * Maximum lengths of the URL in `Link`, which is then in the body alone, and of the list of ignored parameters. No other
 * header grows with the request, so that every head fits into 4 kB, which proxies such as nginx accept by default.
 */
export const MAX_LINK_LENGTH = 2000;
export const MAX_IGNORED_LENGTH = 400;

/** Content codings of compressed responses, the preferred one first. */
export const CONTENT_CODINGS = ['zstd', 'gzip'] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];

/** Media types of responses with data. The second one is for streams, one record per line. */
export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';

/** Longer values of `Accept` and `Accept-Encoding` count as absent: they cost more to parse than a response. */
export const MAX_ACCEPT_LENGTH = 1000;

/** The form of request ids that clients may choose. */
export const REQUEST_ID_PATTERN = '^[A-Za-z0-9._-]{1,128}$';

/** The form of organization ids, which the credential `svc:o:<organization_id>:<key>` contains. */
export const ORGANIZATION_ID_RULE = 'must be 1 to 128 characters of visible ASCII without ":"';

export function isOrganizationId(text: string): boolean {
  return /^[\x21-\x39\x3b-\x7e]{1,128}$/.test(text);
}

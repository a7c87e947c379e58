/** The headers of the API's own, beside those of the version (`releases.ts`). */
export const REQUEST_ID_HEADER = 'X-Request-Id';
export const SNAPSHOT_ID_HEADER = 'Service-Snapshot-Id';
export const DATA_AS_OF_HEADER = 'Service-Data-As-Of';
export const IGNORED_PARAMETERS_HEADER = 'Service-API-Ignored-Parameters';

/** What a caller's own request id may look like. */
export const REQUEST_ID_PATTERN = '^[A-Za-z0-9._-]{1,128}$';

import { randomUUID } from 'node:crypto';
import { REQUEST_ID_PATTERN } from '../contract/headers.ts';

const FIT = new RegExp(REQUEST_ID_PATTERN);

/** The id of a request: the caller's own when it is fit for a header and a log, else a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && FIT.test(given) ? given : randomUUID();
}

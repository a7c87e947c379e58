import { randomUUID } from 'node:crypto';
import { REQUEST_ID_PATTERN } from '../contract/headers.ts';

const FIT = new RegExp(REQUEST_ID_PATTERN);

/** What the ids of this thread begin with: to make a random one for each request takes as long as to check its key. */
const OURS = randomUUID();
let made = 0;

/** The id of a request: the caller's own when it is fit for a header and a log, else one that no other has. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && FIT.test(given) ? given : `${OURS}.${++made}`;
}

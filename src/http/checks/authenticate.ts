import type { Request } from 'express';
import { parseCredential } from '../../keys/credential.ts';
import type { KeyRing, ValidKey } from '../../keys/key-ring.ts';
import type { OrganizationStore, StoreView } from '../../store/registry/store-view.ts';
import { notReady, Problem } from '../response/problem.ts';

export const NO_SNAPSHOT = notReady('no-snapshot', 'no data is loaded yet');
const NO_KEYS = notReady('no-keys', 'no API keys are loaded yet');
const FORM = 'send the header Authorization: Bearer svc:o:<organization_id>:<api_key>';
const KEY_MISSING = new Problem(400, `The API key is missing; ${FORM}.`, { reason: 'key-missing' });
const KEY_MALFORMED = new Problem(400, `The API key is malformed; ${FORM}.`, { reason: 'key-malformed' });
const REFUSED = {
  unknown: new Problem(403, 'The API key is unknown or invalid.', { reason: 'key-unknown' }),
  expired: new Problem(403, 'The API key has expired.', { reason: 'key-expired' }),
  revoked: new Problem(403, 'The API key is revoked.', { reason: 'key-revoked' }),
};
/** To a syncing client, an empty list would look like the deletion of all records. */
const ORGANIZATION_NOT_LOADED = notReady(
  'organization-not-loaded',
  'no live snapshot holds your organization; the operator must publish one',
);

/**
 * Checks the key of a request, and returns its owner.
 * @param ring undefined until keys are loaded
 * @param now milliseconds since the epoch
 * @throws Problem 400 or 403; 429 until keys are loaded
 */
export function authenticate(
  { headers }: Pick<Request, 'headers'>,
  ring: KeyRing | undefined,
  now: number,
): ValidKey {
  if (ring === undefined) throw NO_KEYS;
  if (headers.authorization === undefined) throw KEY_MISSING;
  const credential = parseCredential(headers.authorization);
  if (credential === undefined) throw KEY_MALFORMED;
  const check = ring.check(credential.organizationId, credential.secret, now);
  if (check.outcome === 'valid') return check;
  throw REFUSED[check.outcome];
}

/**
 * Returns the data of one organization. Handlers get nothing else, so no other organization is in their reach.
 * @throws Problem 429 when no live snapshot holds the organization
 */
export function storeOf(view: StoreView, organizationId: string): OrganizationStore {
  const store = view.get(organizationId);
  if (store === undefined) throw ORGANIZATION_NOT_LOADED;
  return store;
}

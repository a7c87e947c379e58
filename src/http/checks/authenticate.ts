import type { Request } from 'express';
import { type Credential, parseCredential } from '../../keys/credential.ts';
import type { KeyRing } from '../../keys/key-ring.ts';
import type { Caller } from '../request-context.ts';
import { Problem, retryLater } from '../response/problem.ts';
import { RETRY_NOT_READY_SECONDS } from './availability.ts';

const NO_KEYS = retryLater(
  'not-ready',
  'The service is not ready: it has no API keys yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);
const FORM = 'it must read: Authorization: Bearer svc:o:<organization_id>:<api_key>';
const KEY_MISSING = new Problem(400, `The API key is missing; ${FORM}.`);
const KEY_MALFORMED = new Problem(400, `The API key is not of the right form; ${FORM}.`);
const KEY_UNKNOWN = new Problem(403, 'The API key is not known or not valid.');
const KEY_REVOKED = new Problem(403, 'The API key is revoked.');

/**
 * Checks the key of a request, and returns the caller.
 * @param ring the keys; undefined until there are some
 * @throws Problem 400 or 403; 429 while there are no keys
 */
export function authenticate(request: Request, ring: KeyRing | undefined): Caller {
  if (ring === undefined) throw NO_KEYS;
  const credential = credentialOf(request);
  const check = ring.check(credential.organizationId, credential.secret);
  if (check.outcome === 'unknown') throw KEY_UNKNOWN;
  if (check.outcome === 'revoked') throw KEY_REVOKED;
  const { organizationId, keyId } = check;
  return { organizationId, keyId };
}

function credentialOf({ headers }: Request): Credential {
  if (headers.authorization === undefined) throw KEY_MISSING;
  const credential = parseCredential(headers.authorization);
  if (credential === undefined) throw KEY_MALFORMED;
  return credential;
}

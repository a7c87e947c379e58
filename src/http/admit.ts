import type { Request, Response } from 'express';
import type { Operation } from '../contract/operations.ts';
import { parseCredential } from '../keys/credential.ts';
import type { Credential } from '../keys/credential.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { ServedStores } from '../store/served-stores.ts';
import { Problem, tryLater } from './problem.ts';

export interface Gatekeepers {
  readonly stores: ServedStores;
  /** Undefined until there is a keys file. */
  readonly keys: () => KeyRing | undefined;
  /** Whether there is more to do than can be done in time. */
  readonly overload: () => boolean;
}

const RETRY_OVERLOAD_SECONDS = 1;
const RETRY_NOT_READY_SECONDS = 5;

const OVERLOADED = tryLater(
  'overload',
  'Too many requests are being answered at the moment.',
  RETRY_OVERLOAD_SECONDS,
);
const NO_SNAPSHOT = tryLater(
  'not-ready',
  'The service is not ready: it has no data yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);
const NO_KEYS = tryLater(
  'not-ready',
  'The service is not ready: it has no API keys yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);
/** Never an empty list: whoever copies the data would take it for the deletion of everything. */
export const ORGANIZATION_NOT_LOADED = tryLater(
  'not-ready',
  'The service is not ready: the data of your organization is not loaded yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);
const FORM = 'it must read: Authorization: Bearer svc:o:<organization_id>:<api_key>';
const KEY_MISSING = new Problem(400, `The API key is missing; ${FORM}.`);
const KEY_MALFORMED = new Problem(400, `The API key is not of the right form; ${FORM}.`);
const KEY_UNKNOWN = new Problem(403, 'The API key is not known or not valid.');
const KEY_REVOKED = new Problem(403, 'The API key is revoked.');

/** Lets in to an operation who has a good key, and notes whose it is. */
export function admit(
  operation: Operation,
  { stores, keys, overload }: Gatekeepers,
  request: Request,
  response: Response,
): void {
  const { exchange } = response.locals;
  exchange.operation = operation.id;
  if (overload()) throw OVERLOADED;
  if (stores.isEmpty) throw NO_SNAPSHOT;
  const ring = keys();
  if (ring === undefined) throw NO_KEYS;
  const { organizationId, secret } = credentialOf(request);
  const check = ring.check(organizationId, secret);
  if (check.outcome === 'unknown') throw KEY_UNKNOWN;
  if (check.outcome === 'revoked') throw KEY_REVOKED;
  exchange.organizationId = check.organizationId;
  exchange.keyId = check.keyId;
}

function credentialOf({ headers }: Request): Credential {
  if (headers.authorization === undefined) throw KEY_MISSING;
  const credential = parseCredential(headers.authorization);
  if (credential === undefined) throw KEY_MALFORMED;
  return credential;
}

import { isOrganizationId, ORGANIZATION_ID_RULE } from '../contract/organization-id.ts';
import { CorruptKeysFile } from './corrupt-keys-file.ts';
import { KeyRing } from './key-ring.ts';
import type { KeyRow } from './key-ring.ts';
import { withKeysFile } from './open-keys-file.ts';
import { DIGEST_BYTES } from './credential.ts';

/** A commit takes milliseconds; whoever waits here does nothing else meanwhile. */
const PATIENCE_MS = 20;

/**
 * Reads a keys file, and leaves no trace of that.
 * @throws CorruptKeysFile, KeysFileBusy, or the system's error (ENOENT when there is no file)
 */
export function readKeyRing(path: string): KeyRing {
  const rows = withKeysFile(path, { readonly: true, patienceMs: PATIENCE_MS }, (database) =>
    database
      .prepare<[], KeyRow>(
        `SELECT key_id AS keyId, organization_id AS organizationId, digest, revoked_at IS NOT NULL AS revoked
         FROM keys`,
      )
      .all(),
  );
  for (const { keyId, organizationId, digest } of rows) {
    if (digest.length !== DIGEST_BYTES)
      throw new CorruptKeysFile(`the digest of key ${keyId} is not SHA-256`);
    if (!isOrganizationId(organizationId)) {
      throw new CorruptKeysFile(`the organization of key ${keyId} ${ORGANIZATION_ID_RULE}`);
    }
  }
  return new KeyRing(rows);
}

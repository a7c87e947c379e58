import { timingSafeEqual } from 'node:crypto';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../contract/organization-id.ts';
import { CorruptKeysFile } from './corrupt-keys-file.ts';
import { withKeysFile } from './open-keys-file.ts';
import { digestOf } from './secret.ts';

export type KeyCheck =
  | { readonly outcome: 'valid'; readonly keyId: string; readonly organizationId: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'revoked' };

const UNKNOWN: KeyCheck = Object.freeze({ outcome: 'unknown' });
const REVOKED: KeyCheck = Object.freeze({ outcome: 'revoked' });

/** A digest, and what is answered to who presents its secret: made once, not at each request. */
interface Entry {
  readonly digest: Buffer;
  readonly check: KeyCheck;
}

const DIGEST_BYTES = 32;

/** What an organization that is not there is searched in its place, so that its absence takes no less time. */
const DECOY: readonly Entry[] = [{ digest: Buffer.alloc(DIGEST_BYTES), check: UNKNOWN }];

/** A commit takes milliseconds; whoever waits here answers no requests meanwhile. */
const PATIENCE_MS = 20;

interface Row {
  readonly keyId: string;
  readonly organizationId: string;
  readonly digest: Buffer;
  readonly revoked: 0 | 1;
}

/** The keys of a keys file at one moment, in memory, by organization. It never changes; a later one replaces it. */
export class KeyRing {
  readonly #byOrganization: ReadonlyMap<string, readonly Entry[]>;
  /** Number of keys that open something. */
  readonly validKeys: number;

  private constructor(rows: readonly Row[]) {
    const entries = Map.groupBy(rows, ({ organizationId }) => organizationId);
    this.#byOrganization = new Map(entries.entries().map(([id, group]) => [id, group.map(entryOf)]));
    this.validKeys = rows.filter(({ revoked }) => revoked === 0).length;
    Object.freeze(this);
  }

  /**
   * Reads a keys file, and leaves no trace of that.
   * @throws CorruptKeysFile, KeysFileBusy, or the system's error (ENOENT when there is no file)
   */
  static read(path: string): KeyRing {
    const rows = withKeysFile(path, { readonly: true, patienceMs: PATIENCE_MS }, (database) =>
      database
        .prepare<[], Row>(
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

  /**
   * Whether `secret` opens the records of an organization. The secret is hashed first, whoever asks, and compared
   * with every key of the organization: the time that takes tells nothing of how near a guess was, nor whether it
   * is another organization's key, nor whether there is such an organization.
   */
  check(organizationId: string, secret: string): KeyCheck {
    const digest = digestOf(secret);
    let check = UNKNOWN;
    for (const entry of this.#byOrganization.get(organizationId) ?? DECOY) {
      if (timingSafeEqual(entry.digest, digest)) check = entry.check;
    }
    return check;
  }
}

function entryOf({ keyId, organizationId, digest, revoked }: Row): Entry {
  const valid: KeyCheck = Object.freeze({ outcome: 'valid', keyId, organizationId });
  return { digest, check: revoked === 1 ? REVOKED : valid };
}

import { timingSafeEqual } from 'node:crypto';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../contract/organization-id.ts';
import { CorruptKeysFile } from './corrupt-keys-file.ts';
import { withKeysFile } from './open-keys-file.ts';
import { RecentSecret } from './recent-secret.ts';
import { digestOf } from './secret.ts';

export type KeyCheck =
  | { readonly outcome: 'valid'; readonly keyId: string; readonly organizationId: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'revoked' };

const UNKNOWN: KeyCheck = Object.freeze({ outcome: 'unknown' });
const REVOKED: KeyCheck = Object.freeze({ outcome: 'revoked' });

/** A digest, and what is answered to who presents its secret: made once, not at each request. */
interface Entry {
  readonly digest: Uint8Array;
  readonly check: KeyCheck;
  readonly recent: RecentSecret;
}

const DIGEST_BYTES = 32;

/** What an organization that is not there is searched in its place, so that its absence takes no less time. */
const DECOY: readonly Entry[] = [
  { digest: Buffer.alloc(DIGEST_BYTES), check: UNKNOWN, recent: new RecentSecret() },
];

/** A commit takes milliseconds; whoever waits here answers no requests meanwhile. */
const PATIENCE_MS = 20;

/** A key as plain data, which can be sent to another thread. */
export interface KeyRow {
  readonly keyId: string;
  readonly organizationId: string;
  /** SHA-256 of the secret. */
  readonly digest: Uint8Array;
  readonly revoked: 0 | 1;
}

/** The keys of a keys file at one moment, in memory, by organization. It never changes; a later one replaces it. */
export class KeyRing {
  readonly #byOrganization: ReadonlyMap<string, readonly Entry[]>;
  /** What it was made of: another thread makes the same of it. */
  readonly rows: readonly KeyRow[];
  /** Number of keys that open something. */
  readonly validKeys: number;

  private constructor(rows: readonly KeyRow[]) {
    this.rows = rows;
    const entries = Map.groupBy(rows, ({ organizationId }) => organizationId);
    this.#byOrganization = new Map(entries.entries().map(([id, group]) => [id, group.map(entryOf)]));
    this.validKeys = rows.filter(({ revoked }) => revoked === 0).length;
    Object.freeze(this);
  }

  /** @param rows sound ones: those of another ring */
  static from(rows: readonly KeyRow[]): KeyRing {
    return new KeyRing(rows);
  }

  /**
   * Reads a keys file, and leaves no trace of that.
   * @throws CorruptKeysFile, KeysFileBusy, or the system's error (ENOENT when there is no file)
   */
  static read(path: string): KeyRing {
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

  /**
   * Whether `secret` opens the records of an organization. It is compared with every key of the organization, first
   * with the secrets that were presented lately, then, hashed, with the digests: the time that takes tells nothing of
   * how near a guess was, nor whether it is another organization's key, nor whether there is such an organization.
   */
  check(organizationId: string, secret: string): KeyCheck {
    const entries = this.#byOrganization.get(organizationId) ?? DECOY;
    return (findRecent(entries, secret) ?? findByDigest(entries, secret))?.check ?? UNKNOWN;
  }
}

function findRecent(entries: readonly Entry[], secret: string): Entry | undefined {
  let found: Entry | undefined;
  for (const entry of entries) if (entry.recent.is(secret)) found = entry;
  return found;
}

function findByDigest(entries: readonly Entry[], secret: string): Entry | undefined {
  const digest = digestOf(secret);
  let found: Entry | undefined;
  for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
  if (found?.check.outcome === 'valid') found.recent.remember(secret);
  return found;
}

function entryOf({ keyId, organizationId, digest, revoked }: KeyRow): Entry {
  const valid: KeyCheck = Object.freeze({ outcome: 'valid', keyId, organizationId });
  return { digest, check: revoked === 1 ? REVOKED : valid, recent: new RecentSecret() };
}

import { timingSafeEqual } from 'node:crypto';
import { RecentSecret } from './recent-secret.ts';
import { DIGEST_BYTES, digestOf } from './secret.ts';

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

/** What an organization that is not there is searched in its place, so that its absence takes no less time. */
const DECOY: readonly Entry[] = [
  { digest: Buffer.alloc(DIGEST_BYTES), check: UNKNOWN, recent: new RecentSecret() },
];

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

  /** @param rows sound ones: those of a keys file that was read, or of another ring */
  constructor(rows: readonly KeyRow[]) {
    this.rows = rows;
    const entries = Map.groupBy(rows, ({ organizationId }) => organizationId);
    this.#byOrganization = new Map(entries.entries().map(([id, group]) => [id, group.map(entryOf)]));
    this.validKeys = rows.filter(({ revoked }) => revoked === 0).length;
    Object.freeze(this);
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

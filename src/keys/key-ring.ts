import { digestOf } from './credential.ts';

export type KeyCheck =
  | { readonly outcome: 'valid'; readonly keyId: string; readonly organizationId: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'revoked' };

const UNKNOWN: KeyCheck = Object.freeze({ outcome: 'unknown' });
const REVOKED: KeyCheck = Object.freeze({ outcome: 'revoked' });

/** A key as plain data, which can be sent to a worker. */
export interface KeyRow {
  readonly keyId: string;
  readonly organizationId: string;
  /** SHA-256 of the secret. */
  readonly digest: Uint8Array;
  readonly revoked: 0 | 1;
}

/** The keys of one state of the keys file, in memory. A ring is immutable; for a changed file, a new ring is built. */
export class KeyRing {
  readonly #checks: ReadonlyMap<string, { readonly organizationId: string; readonly check: KeyCheck }>;
  /** The rows of the ring, from which a worker builds an equal ring. */
  readonly rows: readonly KeyRow[];
  /** Number of keys that are not revoked. */
  readonly validKeys: number;

  /** @param rows checked rows: of `readKeyRing`, or of another ring */
  constructor(rows: readonly KeyRow[]) {
    this.rows = rows;
    this.#checks = new Map(
      rows.map(({ keyId, organizationId, digest, revoked }) => {
        const valid: KeyCheck = Object.freeze({ outcome: 'valid', keyId, organizationId });
        const check = revoked === 1 ? REVOKED : valid;
        return [Buffer.from(digest).toString('hex'), { organizationId, check }];
      }),
    );
    this.validKeys = rows.filter(({ revoked }) => revoked === 0).length;
    Object.freeze(this);
  }

  /**
   * Checks a secret for an organization. The ring looks up the digest of the secret, whether the organization exists or
   * not. The time of a look-up depends on the digest only, which a client cannot choose.
   */
  check(organizationId: string, secret: string): KeyCheck {
    const found = this.#checks.get(digestOf(secret));
    return found?.organizationId === organizationId ? found.check : UNKNOWN;
  }
}

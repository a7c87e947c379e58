import { digestOf } from './credential.ts';

export type KeyCheck =
  | { readonly outcome: 'valid'; readonly keyId: string; readonly organizationId: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'revoked' };

const UNKNOWN: KeyCheck = Object.freeze({ outcome: 'unknown' });
const REVOKED: KeyCheck = Object.freeze({ outcome: 'revoked' });

/** A key as plain data, which can be sent to another thread. */
export interface KeyRow {
  readonly keyId: string;
  readonly organizationId: string;
  /** SHA-256 of the secret. */
  readonly digest: Uint8Array;
  readonly revoked: 0 | 1;
}

/** The keys of a keys file at one moment, in memory. It never changes; a later one replaces it. */
export class KeyRing {
  readonly #checks: ReadonlyMap<string, { readonly organizationId: string; readonly check: KeyCheck }>;
  /** The rows that it is made of: another thread makes the same ring of them. */
  readonly rows: readonly KeyRow[];
  /** Number of keys that are not revoked. */
  readonly validKeys: number;

  /** @param rows sound ones: those of a keys file that was read, or of another ring */
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
   * Checks whether a secret opens the records of an organization. The secret is hashed and its digest looked up, whether there is such an
   * organization or not: the time tells nothing of how near a guess is, since a guess does not determine its digest.
   */
  check(organizationId: string, secret: string): KeyCheck {
    const found = this.#checks.get(digestOf(secret));
    return found?.organizationId === organizationId ? found.check : UNKNOWN;
  }
}

import { parseTimestamp } from '../contract/timestamp.ts';
import { digestOf } from './credential.ts';

export interface ValidKey {
  readonly keyId: string;
  readonly organizationId: string;
  readonly slot: number;
}

type Valid = { readonly outcome: 'valid' } & ValidKey;
type KeyCheck = Valid | { readonly outcome: 'unknown' | 'expired' | 'revoked' };

export interface KeyRow {
  readonly keyId: string;
  readonly organizationId: string;
  readonly label: string;
  /** SHA-256 of the secret. */
  readonly digest: Uint8Array;
  /** ISO 8601; null when the key does not expire. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/**
 * Returns the state of a key at a time, in milliseconds since the epoch. A key that is both revoked and expired counts as
 * revoked.
 */
export function stateOf({ expiresAt, revokedAt }: Pick<KeyRow, 'expiresAt' | 'revokedAt'>, now: number) {
  if (revokedAt !== null) return 'revoked';
  return now < endOf(expiresAt) ? 'valid' : 'expired';
}

/** Returns the time from which on a key is expired, in milliseconds since the epoch; Infinity for none. */
export function endOf(expiresAt: string | null): number {
  return expiresAt === null ? Infinity : Number((parseTimestamp(expiresAt) ?? 0n) / 1000n);
}

/** A key is `valid` before `end`, in milliseconds since the epoch, and then `ended`. */
interface Entry {
  readonly valid: Valid;
  readonly end: number;
  readonly ended: 'expired' | 'revoked';
}

/** Returns the number of valid keys at a time, in milliseconds since the epoch. */
export function countValid(keys: readonly KeyRow[], now: number): number {
  return keys.filter((key) => stateOf(key, now) === 'valid').length;
}

/** The keys of one state of the keys file, by which a worker checks requests. A ring is immutable. */
export class KeyRing {
  /** By digest. */
  readonly #entries = new Map<string, Entry>();

  /**
   * @param rows of `readKeys`
   * @param slots for each row the slot of its key; by default, a ring has slots of its own
   */
  constructor(rows: readonly KeyRow[], slots: readonly number[] = []) {
    for (const [i, { keyId, organizationId, digest, expiresAt, revokedAt }] of rows.entries()) {
      const slot = slots.at(i) ?? i % MAX_SLOTS;
      this.#entries.set(Buffer.from(digest).toString('hex'), {
        valid: { outcome: 'valid', keyId, organizationId, slot },
        end: revokedAt === null ? endOf(expiresAt) : -Infinity,
        ended: revokedAt === null ? 'expired' : 'revoked',
      });
    }
  }

  /**
   * Checks a secret for an organization. The ring looks up the digest of the secret, whether the organization exists or
   * not. The time of a look-up depends on the digest only, which a client cannot choose.
   * @param now milliseconds since the epoch
   */
  check(organizationId: string, secret: string, now: number): KeyCheck {
    const found = this.#entries.get(digestOf(secret));
    if (found?.valid.organizationId !== organizationId) return { outcome: 'unknown' };
    return now < found.end ? found.valid : { outcome: found.ended };
  }
}

/** Number of slots for the counts of keys. Further keys share them. */
export const MAX_SLOTS = 2 ** 20;

/** Adds a key to the slots of the keys of a process, and returns its slot, which it keeps. */
export function addSlot(slots: Map<string, number>, keyId: string): number {
  const slot = slots.get(keyId) ?? slots.size % MAX_SLOTS;
  slots.set(keyId, slot);
  return slot;
}

/**
 * The hour of the last use of each key, one word for each slot, in shared memory: hours since the epoch, 0 for a key
 * without a use. The system allocates memory only for words that are used.
 */
export type LastUses = Int32Array<SharedArrayBuffer>;

const HOUR_MS = 3_600_000;

export function newLastUses(): LastUses {
  return new Int32Array(new SharedArrayBuffer(MAX_SLOTS * Int32Array.BYTES_PER_ELEMENT));
}

/** Notes the use of a key. Writes only when the hour differs, so that threads do not contend for the memory. */
export function noteKeyUse(uses: LastUses, slot: number, now: number): void {
  const hour = Math.floor(now / HOUR_MS);
  if (Atomics.load(uses, slot) !== hour) Atomics.store(uses, slot, hour);
}

/** Returns the start of the hour of the last use, ISO 8601 in UTC; undefined without a use. */
export function lastKeyUse(uses: LastUses, slot: number): string | undefined {
  const hour = Atomics.load(uses, slot);
  return hour === 0 ? undefined : new Date(hour * HOUR_MS).toISOString();
}

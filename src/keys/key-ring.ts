import { parseTimestamp } from '../contract/timestamp.ts';
import { digestOf } from './credential.ts';

/** A key that is both revoked and expired counts as revoked. */
export type KeyState = 'valid' | 'expired' | 'revoked';

export interface ValidKey {
  readonly keyId: string;
  readonly organizationId: string;
  readonly slot: number;
}

type KeyCheck =
  ({ readonly outcome: 'valid' } & ValidKey) | { readonly outcome: 'unknown' | 'expired' | 'revoked' };

const UNKNOWN: KeyCheck = Object.freeze({ outcome: 'unknown' });
const EXPIRED: KeyCheck = Object.freeze({ outcome: 'expired' });
const REVOKED: KeyCheck = Object.freeze({ outcome: 'revoked' });

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

/** Returns the state of a key at a time, in milliseconds since the epoch. */
export function stateOf(
  { expiresAt, revokedAt }: Pick<KeyRow, 'expiresAt' | 'revokedAt'>,
  now: number,
): KeyState {
  if (revokedAt !== null) return 'revoked';
  return now < endOf(expiresAt) ? 'valid' : 'expired';
}

/** Returns the time from which on a key is expired, in milliseconds since the epoch; Infinity for none. */
export function endOf(expiresAt: string | null): number {
  return expiresAt === null ? Infinity : Number((parseTimestamp(expiresAt) ?? 0n) / 1000n);
}

interface Entry {
  readonly organizationId: string;
  readonly check: KeyCheck;
  /** Milliseconds since the epoch. */
  readonly end: number;
  readonly number: number;
}

/** The keys of one state of the keys file, in memory. A ring is immutable; for a changed file, a new ring is built. */
export class KeyRing {
  /** By digest. The outcome is `check` before `end`, and from then on that the key has expired. */
  readonly #entries: ReadonlyMap<string, Entry>;
  /** The rows of the ring, from which a worker builds an equal ring. */
  readonly rows: readonly KeyRow[];
  readonly #withdrawn: WithdrawnKeys | undefined;

  /**
   * @param rows checked rows: of `readKeyRing`, or of another ring
   * @param numbers for each row the number of its key; by default, a ring has numbers of its own
   * @param withdrawn the keys that later rows withdraw
   */
  constructor(rows: readonly KeyRow[], numbers: readonly number[] = [], withdrawn?: WithdrawnKeys) {
    this.rows = rows;
    this.#withdrawn = withdrawn;
    this.#entries = new Map(
      rows.map(({ keyId, organizationId, digest, expiresAt, revokedAt }, i) => {
        const number = numbers.at(i) ?? i;
        const slot = number % MAX_SLOTS;
        const valid: KeyCheck = Object.freeze({ outcome: 'valid', keyId, organizationId, slot });
        const [check, end] = revokedAt === null ? [valid, endOf(expiresAt)] : [REVOKED, Infinity];
        return [Buffer.from(digest).toString('hex'), { organizationId, check, end, number }];
      }),
    );
    Object.freeze(this);
  }

  /**
   * Checks a secret for an organization. The ring looks up the digest of the secret, whether the organization exists or
   * not. The time of a look-up depends on the digest only, which a client cannot choose.
   * @param now milliseconds since the epoch
   */
  check(organizationId: string, secret: string, now: number): KeyCheck {
    const found = this.#entries.get(digestOf(secret));
    if (found?.organizationId !== organizationId) return UNKNOWN;
    const { number } = found;
    if (this.#withdrawn !== undefined && this.#withdrawn[number >>> 5] & (1 << (number & 31))) return REVOKED;
    return now < found.end ? found.check : EXPIRED;
  }

  countValid(now: number): number {
    return this.rows.filter((row) => stateOf(row, now) === 'valid').length;
  }
}

/** Number of slots for the counts of keys. Keys whose numbers differ by it share one. */
export const MAX_SLOTS = 2 ** 20;
/** More keys than a process can hold. */
const MAX_NUMBERS = 2 ** 26;

/**
 * The keys that are revoked or no longer in the file, one bit for each number of a key, in shared memory: they are out
 * before the workers have a ring without them.
 */
export type WithdrawnKeys = Int32Array<SharedArrayBuffer>;

/** Numbers the keys of a process, from 0, and withdraws them. */
export class KeyNumbers {
  /** The system allocates memory only for words that are used. */
  readonly withdrawn: WithdrawnKeys = new Int32Array(new SharedArrayBuffer(MAX_NUMBERS / 8));
  readonly #numbers = new Map<string, number>();

  of(keyId: string): number {
    let number = this.#numbers.get(keyId);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(keyId, number);
    }
    return number;
  }

  /** Withdraws all keys but those of some rows that are not revoked. */
  withdrawOthers(rows: readonly KeyRow[]): void {
    const kept = new Set(rows.filter(({ revokedAt }) => revokedAt === null).map(({ keyId }) => keyId));
    for (const [keyId, number] of this.#numbers) {
      const bit = 1 << (number & 31);
      if (kept.has(keyId)) this.withdrawn[number >>> 5] &= ~bit;
      else this.withdrawn[number >>> 5] |= bit;
    }
  }
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
export function noteUse(uses: LastUses, slot: number, now: number): void {
  const hour = Math.floor(now / HOUR_MS);
  if (Atomics.load(uses, slot) !== hour) Atomics.store(uses, slot, hour);
}

/** Returns the start of the hour of the last use, ISO 8601 in UTC; undefined without a use. */
export function lastUseOf(uses: LastUses, slot: number): string | undefined {
  const hour = Atomics.load(uses, slot);
  return hour === 0 ? undefined : new Date(hour * HOUR_MS).toISOString();
}

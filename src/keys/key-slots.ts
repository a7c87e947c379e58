/** Maximum number of separate slots. */
export const MAX_SLOTS = 2 ** 20;

/** Assigns each key a slot, from 0, in the areas that all workers share. Keys beyond the number of slots share one. */
export class KeySlots {
  readonly #slots = new Map<string, number>();

  of(keyId: string): number {
    let slot = this.#slots.get(keyId);
    if (slot === undefined) {
      slot = this.#slots.size % MAX_SLOTS;
      this.#slots.set(keyId, slot);
    }
    return slot;
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

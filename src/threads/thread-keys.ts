import { KeyRing } from '../keys/key-ring.ts';
import type { SentKeys } from './thread-protocol.ts';

/** The keys of a thread, and where the hits of each are counted. */
export class ThreadKeys {
  #ring: KeyRing | undefined;
  /** Of keys that are gone, too: a request that one of them let in may not be counted yet. */
  readonly #slots = new Map<string, number>();

  /** Undefined until some were sent. */
  get current(): KeyRing | undefined {
    return this.#ring;
  }

  /** The slot of a key that was let in. */
  slotOf(keyId: string): number {
    const slot = this.#slots.get(keyId);
    if (slot === undefined) throw new Error(`key ${keyId} was not sent`);
    return slot;
  }

  take({ rows, slots }: SentKeys): void {
    for (const [i, { keyId }] of rows.entries()) this.#slots.set(keyId, slots[i]);
    this.#ring = new KeyRing(rows);
  }
}

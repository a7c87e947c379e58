import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { KeyRing } from './key-ring.ts';
import { readKeyRing } from './keys-file.ts';
import { KeysFileBusy } from './open-keys-file.ts';

/**
 * Within this time a file may change again without a change of its time stamp, so it is read again. It is counted from
 * when the stamp was first seen, by a clock that nobody sets: stamps may be of another clock than ours.
 */
const STAMP_DOUBT_MS = 3000;

/** Whoever holds the file for so long keeps a change of keys from coming into force. */
const MOST_BUSY_MS = 5000;

export interface KeysWatcherOptions {
  /** Has keys that differ from those before take effect; done when they have. Not to be rejected. */
  readonly takeEffect?: (ring: KeyRing) => Promise<void>;
  /** Milliseconds, from any moment on, that never go back. */
  readonly clock?: () => number;
}

/** Holds the keys of a keys file as they are now. */
export class KeysWatcher {
  readonly #path: string;
  readonly #log: Logger;
  readonly #takeEffect: (ring: KeyRing) => Promise<void>;
  readonly #clock: () => number;
  #polling: Promise<void> | undefined;
  #ring: KeyRing | undefined;
  /** What the file is, as its stamp tells. */
  #seen: string | undefined;
  /** When it was first seen to be that, by the clock. */
  #seenAt = 0;
  /** Whether it was read as that when the time of doubt was over. */
  #isSettled = false;
  /** What it was when its keys were last said to be live. */
  #live: string | undefined;
  #complaint: string | undefined;

  constructor(path: string, log: Logger, options: KeysWatcherOptions = {}) {
    this.#path = path;
    this.#log = log;
    this.#takeEffect = options.takeEffect ?? (() => Promise.resolve());
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** The keys; undefined until there was a file. */
  get current(): KeyRing | undefined {
    return this.#ring;
  }

  /** What is wrong with the file, when the keys are not those in it. */
  get complaint(): string | undefined {
    return this.#complaint;
  }

  /**
   * Looks once. A file that is gone, damaged or out of reach leaves the keys as they were, and is tried again. While it
   * is under way, another call is the same. Never rejected.
   */
  poll(): Promise<void> {
    this.#polling ??= this.#look().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #look(): Promise<void> {
    try {
      const status = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
      if (status === undefined) {
        this.#seen = undefined;
        if (this.#ring !== undefined) this.#complain('the file is gone');
        return;
      }
      const version = `${status.ino}/${status.size}/${status.mtimeNs}/${status.ctimeNs}`;
      // After the file was looked at: whatever its stamp tells of has happened by then.
      const now = this.#clock();
      if (version !== this.#seen) {
        this.#seen = version;
        this.#seenAt = now;
        this.#isSettled = false;
      } else if (this.#isSettled) return;
      const ring = readKeyRing(this.#path);
      // A file that is only read again leaves the ring, and what it knows of its keys, as it was.
      if (this.#ring === undefined || !haveSameRows(ring, this.#ring)) {
        await this.#takeEffect(ring);
        this.#ring = ring;
      }
      if (version !== this.#live || this.#complaint !== undefined) {
        this.#log.info({ validKeys: ring.validKeys }, 'keys live');
      }
      this.#live = version;
      this.#complaint = undefined;
      this.#isSettled = now - this.#seenAt >= STAMP_DOUBT_MS;
    } catch (error) {
      // Somebody writes at the moment, which is over soon.
      if (error instanceof KeysFileBusy && this.#clock() - this.#seenAt < MOST_BUSY_MS) return;
      this.#complain(error instanceof Error ? error.message : String(error));
    }
  }

  /** Says what is wrong, once. */
  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#log.error({ reason }, 'keys file refused; the keys stay as they were');
  }
}

function haveSameRows(a: KeyRing, b: KeyRing): boolean {
  return isDeepStrictEqual(a.rows, b.rows);
}

import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import { KeyRing } from './key-ring.ts';
import { KeysFileBusy } from './keys-file-busy.ts';

/**
 * Within this time a file may change again without a change of its time stamp, so it is read again. It is counted from
 * when the stamp was first seen, by a clock that nobody sets: stamps may be of another clock than ours.
 */
const STAMP_DOUBT_MS = 3000;

/** Whoever holds the file for so long keeps a change of keys from coming into force. */
const MOST_BUSY_MS = 5000;

/** Holds the keys of a keys file as they are now. */
export class KeysWatcher {
  readonly #path: string;
  readonly #log: Logger;
  readonly #clock: () => number;
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

  /** @param clock milliseconds, from any moment on, that never go back */
  constructor(path: string, log: Logger, clock: () => number = () => performance.now()) {
    this.#path = path;
    this.#log = log;
    this.#clock = clock;
  }

  /** The keys; undefined until there was a file. */
  get current(): KeyRing | undefined {
    return this.#ring;
  }

  /** What is wrong with the file, when the keys are not those in it. */
  get complaint(): string | undefined {
    return this.#complaint;
  }

  /** Looks once. A file that is gone, damaged or out of reach leaves the keys as they were, and is tried again. */
  poll(): void {
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
      this.#ring = KeyRing.read(this.#path);
      if (version !== this.#live || this.#complaint !== undefined) {
        this.#log.info({ validKeys: this.#ring.validKeys }, 'keys live');
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

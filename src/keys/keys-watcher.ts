import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import { KeyRing } from './key-ring.ts';
import { KeysFileBusy } from './keys-file-busy.ts';

/** Within this time a file may change again without a change of its time stamp, so it is read again. */
const STAMP_DOUBT_MS = 3000;

/** Holds the keys of a keys file as they are now. */
export class KeysWatcher {
  readonly #path: string;
  readonly #log: Logger;
  #ring: KeyRing | undefined;
  /** What the file was when it was read for good: within the time of doubt it is read again. */
  #seen: string | undefined;
  /** What it was when its keys were last said to be live. */
  #live: string | undefined;
  #complaint: string | undefined;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** The keys; undefined until there was a file. */
  get current(): KeyRing | undefined {
    return this.#ring;
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
      if (version === this.#seen) return;
      this.#ring = KeyRing.read(this.#path);
      const isInDoubt = Date.now() - Number(status.ctimeMs) < STAMP_DOUBT_MS;
      if (version !== this.#live || this.#complaint !== undefined) {
        this.#log.info({ validKeys: this.#ring.validKeys }, 'keys live');
      }
      this.#live = version;
      this.#complaint = undefined;
      if (!isInDoubt) this.#seen = version;
    } catch (error) {
      // Somebody writes at the moment.
      if (error instanceof KeysFileBusy) return;
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

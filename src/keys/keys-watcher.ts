import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import { CorruptKeysFile } from './corrupt-keys-file.ts';
import { KeyRing } from './key-ring.ts';
import { KeysFileBusy } from './keys-file-busy.ts';

/** Within this time a file may change again without a change of its time stamp, so it is read again. */
const STAMP_DOUBT_MS = 3000;

/** Holds the keys of a keys file as they are now. */
export class KeysWatcher {
  readonly #path: string;
  readonly #log: Logger;
  #ring: KeyRing | undefined;
  #seen = '';
  #readAgain = false;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** The keys; undefined until there was a file. */
  get current(): KeyRing | undefined {
    return this.#ring;
  }

  /** Looks once. A file that is gone or damaged leaves the keys as they were. */
  poll(): void {
    const status = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    const version = status === undefined ? 'gone' : `${status.ino}/${status.size}/${status.mtimeNs}`;
    if (version === this.#seen && !this.#readAgain) return;
    const isNews = version !== this.#seen;
    this.#seen = version;
    if (status === undefined) {
      if (isNews && this.#ring !== undefined) this.#log.warn('keys file is gone; the keys stay as they were');
      return;
    }
    this.#readAgain = Date.now() - Number(status.mtimeMs) < STAMP_DOUBT_MS;
    this.#read(isNews);
  }

  #read(isNews: boolean): void {
    try {
      this.#ring = KeyRing.read(this.#path);
      if (isNews) this.#log.info({ validKeys: this.#ring.validKeys }, 'keys live');
    } catch (error) {
      if (error instanceof KeysFileBusy) this.#readAgain = true;
      else if (error instanceof CorruptKeysFile) {
        if (isNews)
          this.#log.error({ reason: error.message }, 'keys file refused; the keys stay as they were');
      } else throw error;
    }
  }
}

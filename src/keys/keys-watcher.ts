import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { countValid, type KeyRow } from './key-ring.ts';
import { readKeys } from './keys-file.ts';
import { KeysFileBusy } from './open-keys-file.ts';

/**
 * Upper bound of the resolution of time stamps. Until a stamp is older, the file may have changed without a new
 * stamp, so each poll reads it. The monotonic clock measures the age, since time stamps may come from another clock.
 */
const STAMP_RESOLUTION_MS = 3000;

/** A keys file that is busy for longer is reported: its changes are not in force. */
const MAX_BUSY_MS = 5000;

export class KeysWatcher {
  readonly #path: string;
  readonly #log: Logger;
  readonly #apply: (keys: readonly KeyRow[]) => Promise<void>;
  /** The keys in force; undefined until there was a file. */
  current: readonly KeyRow[] | undefined;
  /** The reason why the keys in force may differ from those of the file. Each reason is logged once. */
  complaint: string | undefined;
  /** How other users can change the keys; undefined when they cannot. */
  warning: string | undefined;
  /** The keys of the file, which come into force when `#applied` is fulfilled. */
  #latest: readonly KeyRow[] | undefined;
  #applied = Promise.resolve();
  /** Identity, size and time stamps of the file at the latest poll. */
  #stamp: string | undefined;
  #stampSeenAt = 0;
  /** Time of the latest read that succeeded. */
  #readAt = -Infinity;

  /** @param apply brings changed keys into force; fulfilled when all workers have them, never rejected */
  constructor(path: string, log: Logger, apply: (keys: readonly KeyRow[]) => Promise<void>) {
    this.#path = path;
    this.#log = log;
    this.#apply = apply;
  }

  /**
   * Reads the file if it may have changed. While the file is missing, damaged or unreadable, the previous keys stay in
   * force, and each poll tries again. Fulfilled when the keys of the file are in force, never rejected.
   */
  poll(): Promise<void> {
    this.#readChanges();
    return this.#applied;
  }

  #readChanges(): void {
    try {
      const status = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
      if (status === undefined) {
        this.#stamp = undefined;
        if (this.#latest === undefined) return;
        throw new Error('the file no longer exists');
      }
      const exposure = exposureOf(this.#path);
      // The keys stay in force: without them, the service would stop. Each warning is logged once.
      if (exposure !== undefined && exposure !== this.warning)
        this.#log.warn({ reason: exposure }, 'the keys file is exposed');
      this.warning = exposure;
      const stamp = `${status.ino}/${status.size}/${status.mtimeNs}/${status.ctimeNs}`;
      // Taken after the stamp, so that the changes in the stamp are not later than this time.
      const now = performance.now();
      if (stamp !== this.#stamp) {
        this.#stamp = stamp;
        this.#stampSeenAt = now;
      } else if (this.#readAt - this.#stampSeenAt >= STAMP_RESOLUTION_MS) return;
      const keys = readKeys(this.#path);
      // The workers are not sent the same keys again.
      const isChanged = !isDeepStrictEqual(keys, this.#latest);
      if (isChanged) {
        this.#latest = keys;
        this.#applied = this.#apply(keys).then(() => {
          this.current = keys;
        });
      }
      if (isChanged || this.complaint !== undefined) {
        void this.#applied.then(() => {
          this.#log.info({ validKeys: countValid(keys, Date.now()) }, 'keys live');
        });
      }
      this.complaint = undefined;
      this.#readAt = now;
    } catch (error) {
      // A write in progress ends soon, and the next poll reads its result.
      if (error instanceof KeysFileBusy && performance.now() - this.#stampSeenAt < MAX_BUSY_MS) return;
      const reason = error instanceof Error ? error.message : String(error);
      if (reason === this.complaint) return;
      this.complaint = reason;
      const consequence = this.#latest === undefined ? 'no key is valid' : 'the previous keys stay in force';
      this.#log.error({ reason }, `cannot use the keys file; ${consequence}`);
    }
  }
}

const WRITABLE_BY_OTHERS = 0o022n;
/** In a folder with this bit, such as /tmp, a file can be replaced by its owner only. */
const STICKY = 0o1000n;

/** Returns the first permission by which another user could create or restore keys; undefined when there is none. */
function exposureOf(path: string): string | undefined {
  const modeOf = (of: string) => statSync(of, { bigint: true }).mode;
  if ((modeOf(path) & WRITABLE_BY_OTHERS) !== 0n) return 'group or others can write to the file';
  const exposed = [dirname(path), dirname(realpathSync(path))].find(
    (folder) => (modeOf(folder) & WRITABLE_BY_OTHERS) !== 0n && (modeOf(folder) & STICKY) === 0n,
  );
  return exposed && `group or others can write to the folder ${exposed}`;
}

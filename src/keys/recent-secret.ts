import { timingSafeEqual } from 'node:crypto';
import { SECRET_LENGTH } from './secret.ts';

/** A secret that nobody has presented for this long is forgotten before twice the time is over. */
export const FORGET_AFTER_MS = 5000;

/** One place for what is presented, so that the bytes of a request need no memory of their own that would linger. */
const presented = Buffer.alloc(SECRET_LENGTH);

/**
 * Does `use` with the bytes of a secret, to be compared with remembered ones, and wipes them. Undefined when it is of
 * a form that none is remembered of.
 */
export function withBytesOf<T>(secret: string, use: (bytes: Uint8Array) => T): T | undefined {
  if (Buffer.byteLength(secret) !== SECRET_LENGTH || secret.length !== SECRET_LENGTH) return undefined;
  presented.write(secret, 'latin1');
  try {
    return use(presented);
  } finally {
    presented.fill(0);
  }
}

/**
 * The secret of one key while it is in use, so that it need not be hashed at each request. In the clear: every request
 * that carries a secret leaves it in memory for a while, as text that nobody can wipe; this copy is wiped soon after
 * the last of them.
 */
export class RecentSecret {
  /** Zeros while there is none: to find that takes as long as to find another. */
  readonly #bytes = Buffer.alloc(SECRET_LENGTH);
  /** Runs while there is one. */
  #timer: NodeJS.Timeout | undefined;
  #isInUse = false;

  is(bytes: Uint8Array): boolean {
    const isSame = timingSafeEqual(this.#bytes, bytes) && this.#timer !== undefined;
    if (isSame) this.#isInUse = true;
    return isSame;
  }

  remember(bytes: Uint8Array): void {
    this.#bytes.set(bytes);
    this.#isInUse = true;
    this.#timer ??= setInterval(() => {
      if (!this.#isInUse) this.#forget();
      this.#isInUse = false;
    }, FORGET_AFTER_MS).unref();
  }

  #forget(): void {
    this.#bytes.fill(0);
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

import { SECRET_LENGTH } from './secret.ts';

/** A secret that nobody has presented for this long is forgotten before twice the time is over. */
export const FORGET_AFTER_MS = 5000;

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

  /** Looks at every character, whatever those before it were: the time that takes tells nothing of how near a guess is. */
  is(presented: string): boolean {
    if (presented.length !== SECRET_LENGTH) return false;
    let difference = 0;
    for (let i = 0; i < SECRET_LENGTH; i++) difference |= this.#bytes[i] ^ presented.charCodeAt(i);
    const isSame = difference === 0 && this.#timer !== undefined;
    if (isSame) this.#isInUse = true;
    return isSame;
  }

  /** One of another form than secrets have is not remembered. */
  remember(secret: string): void {
    if (secret.length !== SECRET_LENGTH || Buffer.byteLength(secret) !== SECRET_LENGTH) return;
    this.#bytes.write(secret, 'latin1');
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

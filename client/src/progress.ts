import { ConnectionError, FoyerError } from './errors.ts';

/** Limits the time of each step of a request, and turns its failures into errors of the client. */
export class Progress {
  /** Aborts the request when a step takes too long, or when the caller aborts. */
  readonly signal: AbortSignal;
  readonly #request: string;
  readonly #limitMs: number;
  readonly #ofCaller: AbortSignal | undefined;
  readonly #expired = new AbortController();

  constructor(request: string, limitMs: number, ofCaller: AbortSignal | undefined) {
    this.#request = request;
    this.#limitMs = limitMs;
    this.#ofCaller = ofCaller;
    const { signal } = this.#expired;
    this.signal = ofCaller === undefined ? signal : AbortSignal.any([signal, ofCaller]);
  }

  /** Waits for a step. Rejects with the caller's reason after an abort, and else with a ConnectionError. */
  async within<T>(step: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#expired.abort(new Error(`no progress for ${this.#limitMs / 1000} s`));
    }, this.#limitMs);
    try {
      return await step;
    } catch (cause) {
      this.#ofCaller?.throwIfAborted();
      if (cause instanceof FoyerError) throw cause;
      throw new ConnectionError(`${this.#request}: ${causeOf(cause)}`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns the innermost message: that of fetch itself is `fetch failed`. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : causeOf(error.cause);
}

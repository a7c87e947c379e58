import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import type { HitCounter } from './hit-counter.ts';

/**
 * When a window ends. The date, which express-rate-limit asks for, is by the wall clock, and that may be set while
 * the window is open; the milliseconds are not.
 */
export class WindowEnd extends Date {
  readonly millisecondsLeft: number;

  constructor(millisecondsLeft: number) {
    super(Date.now() + millisecondsLeft);
    this.millisecondsLeft = millisecondsLeft;
  }
}

/** The counts of express-rate-limit. Its own store goes by the wall clock: set back, that would refuse callers for as long. */
export class RateLimitStore implements Store {
  readonly localKeys = true;
  readonly #counter: HitCounter;

  constructor(counter: HitCounter) {
    this.#counter = counter;
  }

  increment(key: string): ClientRateLimitInfo {
    const { count, millisecondsLeft } = this.#counter.hit(key);
    return { totalHits: count, resetTime: new WindowEnd(millisecondsLeft) };
  }

  /** Only a limit that takes some requests back would ask for this. */
  decrement(): never {
    throw new Error('every request counts');
  }

  resetKey(key: string): void {
    this.#counter.forget(key);
  }
}

/** How often a key was seen in its window. */
export interface Hits {
  /** This one included. */
  readonly count: number;
  /** Until the window ends, more than 0. */
  readonly millisecondsLeft: number;
}

interface Window {
  count: number;
  /** By the clock of the counter. */
  readonly end: number;
}

/**
 * Counts hits by key. The first hit of a key opens a window of fixed length; the first one after its end opens the
 * next. Time is that of a clock which nobody sets, so that no window lasts longer than it should.
 */
export class HitCounter {
  readonly #windowMs: number;
  readonly #clock: () => number;
  /** In the order in which they end, since all are of one length. */
  readonly #windows = new Map<string, Window>();

  /** @param clock milliseconds, from any moment on, that never go back */
  constructor(windowMs: number, clock: () => number = () => performance.now()) {
    this.#windowMs = windowMs;
    this.#clock = clock;
  }

  /** Keys that are remembered: those whose window was open at the last hit of any key. */
  get size(): number {
    return this.#windows.size;
  }

  hit(key: string): Hits {
    const now = this.#clock();
    this.#forgetEnded(now);
    let window = this.#windows.get(key);
    if (window === undefined) {
      window = { count: 0, end: now + this.#windowMs };
      this.#windows.set(key, window);
    }
    window.count++;
    // The sum of two such numbers, less the first, may be a little more than the second.
    return { count: window.count, millisecondsLeft: Math.min(window.end - now, this.#windowMs) };
  }

  forget(key: string): void {
    this.#windows.delete(key);
  }

  #forgetEnded(now: number): void {
    for (const [key, { end }] of this.#windows) {
      if (end > now) return;
      this.#windows.delete(key);
    }
  }
}

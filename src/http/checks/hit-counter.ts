import { monotonicNow } from '../monotonic-clock.ts';

/** How often a key was seen in its window. */
export interface Hits {
  /** This one included. */
  readonly count: number;
  /** Until the window ends, more than 0. */
  readonly millisecondsLeft: number;
}

/**
 * The counts of all keys, one 64-bit word each, in memory that threads share:
 *
 *     63                                24 23                          0
 *     | end of the window, milliseconds   | hits                       |
 *
 * One word, so that a window is opened, and a hit counted, in one step: a thread that dies leaves nothing half done.
 */
export type HitCounts = BigInt64Array<SharedArrayBuffer>;

const HIT_BITS = 24n;
const HIT_MASK = (1n << HIT_BITS) - 1n;
/** Beyond this hits are not added, so that they never reach the bits of the time. No process answers so many in a minute. */
const MOST_HITS = 2 ** 24 - 2 ** 10;

/** How many keys are counted apart. Memory that is not used takes none of the machine's. */
const MOST_KEYS = 2 ** 20;

export function newHitCounts(): HitCounts {
  return new BigInt64Array(new SharedArrayBuffer(MOST_KEYS * BigInt64Array.BYTES_PER_ELEMENT));
}

/** Numbers keys, from 0 on. Keys that are more than can be counted apart share a number with earlier ones. */
export class HitSlots {
  readonly #slots = new Map<string, number>();

  of(key: string): number {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = this.#slots.size % MOST_KEYS;
      this.#slots.set(key, slot);
    }
    return slot;
  }
}

export interface HitCounterOptions {
  readonly counts?: HitCounts;
  /** Which of the counts is that of a key: the same in all threads that share them. */
  readonly slotOf?: (key: string) => number;
  /** Milliseconds, from any moment on, that never go back: the same in all threads that share the counts. */
  readonly clock?: () => number;
}

/**
 * Counts hits by key. The first hit of a key opens a window of fixed length; the first one after its end opens the
 * next. Time is that of a clock which nobody sets, so that no window lasts longer than it should.
 */
export class HitCounter {
  readonly #windowMs: number;
  readonly #counts: HitCounts;
  readonly #slotOf: (key: string) => number;
  readonly #clock: () => number;

  constructor(windowMs: number, options: HitCounterOptions = {}) {
    const slots = new HitSlots();
    this.#windowMs = windowMs;
    this.#counts = options.counts ?? newHitCounts();
    this.#slotOf = options.slotOf ?? ((key) => slots.of(key));
    this.#clock = options.clock ?? monotonicNow;
  }

  hit(key: string): Hits {
    const slot = this.#slotOf(key);
    const now = this.#clock();
    let seen = Atomics.load(this.#counts, slot);
    while (endOf(seen) <= now) {
      // Rounded down, so that no window is longer than it is said to be.
      const opened = (BigInt(Math.floor(now) + this.#windowMs) << HIT_BITS) | 1n;
      const found = Atomics.compareExchange(this.#counts, slot, seen, opened);
      if (found === seen) return { count: 1, millisecondsLeft: endOf(opened) - now };
      // Another thread was first: it opened the window, and this hit falls into it.
      seen = found;
    }
    if (hitsOf(seen) < MOST_HITS) seen = Atomics.add(this.#counts, slot, 1n) + 1n;
    return { count: hitsOf(seen), millisecondsLeft: Math.min(endOf(seen) - now, this.#windowMs) };
  }
}

function endOf(word: bigint): number {
  return Number(word >> HIT_BITS);
}

function hitsOf(word: bigint): number {
  return Number(word & HIT_MASK);
}

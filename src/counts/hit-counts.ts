/**
 * Counts of hits in a window of time, one 64-bit word for each slot, in shared memory:
 *
 *     63                                24 23                          0
 *     | end of the window, milliseconds   | hits                       |
 *
 * One atomic operation opens a window or counts a hit, so a terminated thread leaves a consistent word.
 */
export type HitCounts = BigInt64Array<SharedArrayBuffer>;

const HIT_BITS = 24n;
const HIT_MASK = (1n << HIT_BITS) - 1n;
/** Greatest count. More hits are not added, since they could carry into the bits of the time. */
const MAX_HITS = 2 ** 24 - 2 ** 10;

/** Creates a count for each slot. The system allocates memory only for counts that are used. */
export function newHitCounts(slots: number): HitCounts {
  return new BigInt64Array(new SharedArrayBuffer(slots * BigInt64Array.BYTES_PER_ELEMENT));
}

/**
 * Counts a hit. The first hit of a key opens a window of fixed length. The first hit after its end opens the next one.
 * @param now milliseconds of a monotonic clock: setting the wall clock must not lengthen a window
 * @returns the hits in the window, with this one, and the time until its end, more than 0
 */
export function countHit(counts: HitCounts, slot: number, windowMs: number, now: number) {
  let word = Atomics.load(counts, slot);
  while (endOf(word) <= now) {
    // Rounded down, so that no window is longer than `windowMs`.
    const opened = (BigInt(Math.floor(now) + windowMs) << HIT_BITS) | 1n;
    const found = Atomics.compareExchange(counts, slot, word, opened);
    if (found === word) return { count: 1, millisecondsLeft: endOf(opened) - now };
    // Another thread has opened the window.
    word = found;
  }
  if (hitsOf(word) < MAX_HITS) word = Atomics.add(counts, slot, 1n) + 1n;
  return { count: hitsOf(word), millisecondsLeft: Math.min(endOf(word) - now, windowMs) };
}

function endOf(word: bigint): number {
  return Number(word >> HIT_BITS);
}

function hitsOf(word: bigint): number {
  return Number(word & HIT_MASK);
}

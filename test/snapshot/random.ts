/** Random choices that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number) {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return {
    /** A whole number from 0, below `limit`. */
    below,
    pick: <T>(values: readonly T[]): T => values[below(values.length)],
    shuffled: <T>(values: readonly T[]): T[] =>
      values
        .map((value) => ({ value, at: below(2 ** 32) }))
        .sort((a, b) => a.at - b.at)
        .map(({ value }) => value),
  };
}

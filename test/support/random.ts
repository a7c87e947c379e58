import fc from 'fast-check';
import type { Random } from '../../scripts/sample/random.ts';

/** Returns the values in a random order. */
export function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const keyed = values.map((value) => ({ value, at: random.uint32() }));
  return keyed.sort((a, b) => a.at - b.at).map(({ value }) => value);
}

/** Parameters of reproducible properties. A failure prints the seed and the path to the smallest case. */
export const FIXED = { seed: 20261121, numRuns: 200 };

/** Pairs of distinct texts with the same hash. */
export const COLLIDING_TEXTS: readonly (readonly [string, string])[] = [
  ['1k6g', '2ahzé'],
  ['266s', '2ao7é'],
  ['1cjdé', '4tkm'],
  ['"n15q8y11', '"d3asq72k'],
  ['\\tbfq0726', '\\ryt5en12'],
  ['\n"zh50gwg2n', '\n"oezgq31x'],
];

/** Two lists: each text has the hash of one in the other, also before the same end. */
export const SAME_HASHES = [0, 1].map((side) =>
  COLLIDING_TEXTS.flatMap((pair) => ['', '"', '\\', '\n', 'a"'].map((end) => pair[side] + end)),
);

/** Lists of texts of any characters. Many repeat, some are empty, and some have the same hash. */
export const texts = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'é', '\0', '"', '\\'), maxLength: 2 }),
    fc.constantFrom(...SAME_HASHES.flat()),
  ),
  { maxLength: 100 },
);

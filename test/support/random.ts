import fc from 'fast-check';
import type { Random } from '../../scripts/sample/random.ts';

/** Returns the values in a random order. */
export function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const keyed = values.map((value) => ({ value, at: random.uint32() }));
  return keyed.sort((a, b) => a.at - b.at).map(({ value }) => value);
}

/** Parameters of reproducible properties. A failure prints the seed and the path to the smallest case. */
export const FIXED = { seed: 20261121, numRuns: 200 };

/** Pairs of distinct texts with the same hash under the key of the tests. */
export const COLLIDING_TEXTS: readonly (readonly [string, string])[] = [
  ['26je', '2bje'],
  ['é2uvd', 'é2xpw'],
  ['"x7d', '"2ey6'],
  ['\\tzz8', '\\t21hi'],
  ['\n"elo', '\n"2kb1'],
  ['aoza"', '1hwpa"'],
];

/** Two lists: each text has the hash of one in the other. */
export const SAME_HASHES = [0, 1].map((side) => COLLIDING_TEXTS.map((pair) => pair[side]));

/** Lists of texts of any characters. Many repeat, some are empty or long, and some have the same hash. */
export const texts = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'é', '\0', '"', '\\'), maxLength: 2 }),
    fc.constantFrom(...SAME_HASHES.flat(), 'long'.repeat(200)),
  ),
  { maxLength: 400 },
);

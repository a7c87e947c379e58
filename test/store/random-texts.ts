import fc from 'fast-check';

/** Texts of any characters, often the same ones again, the empty one among them. */
export const texts = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.string({ unit: fc.constantFrom('a', 'é', '\0'), maxLength: 2 }),
  ),
  { maxLength: 300 },
);

/** For properties: the same runs every time; a failure prints the seed and the way to the smallest case. */
export const FIXED = { seed: 20261121, numRuns: 200 };

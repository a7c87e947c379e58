import { expect } from 'chai';
import { growthOf } from './growth.ts';

const SAMPLES = 200;

/** Returns the quantities that grow, for resident memory and descriptors that depend on the number of the sample. */
function growing(residentMb: (i: number) => number, descriptors: (i: number) => number): string[] {
  const samples = Array.from({ length: SAMPLES }, (_, i) => ({
    'resident memory, MB': residentMb(i),
    'heap of the main thread, MB': 20,
    'descriptors without connections': descriptors(i),
  }));
  return growthOf(samples)
    .filter(({ isFlat }) => !isFlat)
    .map(({ name }) => name);
}

describe('The growth in a soak', () => {
  for (const [what, residentMb, descriptors, names] of [
    ['a warm-up and single peaks', (i) => (i < SAMPLES / 5 ? i : i % 20 === 0 ? 900 : 250), () => 50, []],
    ['memory that grows by half', (i) => 300 + i, () => 50, ['resident memory, MB']],
    ['leaking descriptors', () => 250, (i) => 50 + (i >> 2), ['descriptors without connections']],
  ] as readonly [string, (i: number) => number, (i: number) => number, string[]][]) {
    it(`has ${names.length} quantities that are not flat for ${what}`, () => {
      expect(growing(residentMb, descriptors)).to.deep.equal(names);
    });
  }
});

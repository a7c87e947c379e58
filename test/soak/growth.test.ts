import { expect } from 'chai';
import { growthOf } from './growth.ts';

const SAMPLES = 200;

describe('The growth in a soak', () => {
  for (const [what, residentMb, descriptors, expected] of [
    ['a warm-up and single peaks', (i) => (i < SAMPLES / 5 ? i : i % 20 === 0 ? 900 : 250), () => 50, []],
    ['memory that grows by half', (i) => 300 + i, () => 50, ['resident memory, MB']],
    ['leaking descriptors', () => 250, (i) => 50 + (i >> 2), ['descriptors without connections']],
  ] as readonly [string, (i: number) => number, (i: number) => number, string[]][]) {
    it(`has ${expected.length} quantities that are not flat for ${what}`, () => {
      const samples = Array.from({ length: SAMPLES }, (_, i) => ({
        'resident memory, MB': residentMb(i),
        'heap of the main thread, MB': 20,
        'descriptors without connections': descriptors(i),
      }));
      const grown = growthOf(samples).filter(({ isFlat }) => !isFlat);
      expect(grown.map(({ name }) => name)).to.deep.equal(expected);
    });
  }
});

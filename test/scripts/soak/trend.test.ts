import { expect } from 'chai';
import type { Usage } from '../../../scripts/soak/soak-replica.ts';
import { growthOf } from '../../../scripts/soak/trend.ts';

const MEGABYTE = 1024 * 1024;
const SAMPLES = 200;

/** Returns samples of a process whose resident memory and descriptors depend on the number of the sample. */
function samples(residentMb: (i: number) => number, descriptors: (i: number) => number = () => 50): Usage[] {
  return Array.from({ length: SAMPLES }, (_, i) => ({
    residentBytes: residentMb(i) * MEGABYTE,
    heapBytes: 20 * MEGABYTE,
    descriptors: descriptors(i),
  }));
}

/** Returns the names of the quantities that grow. */
const growing = (usages: readonly Usage[]) =>
  growthOf(usages)
    .filter(({ isFlat }) => !isFlat)
    .map(({ name }) => name);

describe('The growth in a soak', () => {
  it('is flat when memory is constant after the warm-up, apart from single peaks', () => {
    expect(growing(samples((i) => (i < SAMPLES / 5 ? i : i % 20 === 0 ? 900 : 250)))).to.deep.equal([]);
  });

  it('is not flat when memory grows by half', () => {
    expect(growing(samples((i) => 300 + i))).to.deep.equal(['resident memory, MB']);
  });

  it('is not flat when descriptors leak', () => {
    expect(
      growing(
        samples(
          () => 250,
          (i) => 50 + (i >> 2),
        ),
      ),
    ).to.deep.equal(['descriptors without connections']);
  });
});

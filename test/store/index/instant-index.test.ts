import { expect } from 'chai';
import fc from 'fast-check';
import { instantOrder } from '../../../src/store/index/instant-index.ts';
import { FIXED } from '../../support/random.ts';

const near = fc.constantFrom(0n, 1n, -1n, 65_535n, 65_536n, -65_536n, -65_537n, 2n ** 32n, 2n ** 48n - 1n);
const far = fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n));
/** Instants with many duplicates. */
const instants = fc.array(fc.oneof(near, far, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), {
  maxLength: 100,
});

/** Array.sort is stable. */
function sortedPositions(values: readonly bigint[]): number[] {
  return [...values.keys()].sort((a, b) => (values[a] < values[b] ? -1 : values[a] > values[b] ? 1 : 0));
}

/** Repeats the instants, each time a little later, until there are thousands. */
function repeated(values: readonly bigint[]): bigint[] {
  return Array.from({ length: 3000 }, (_, i) => BigInt.asIntN(64, values[i % values.length] + BigInt(i % 7)));
}

const day = fc.bigInt({ min: 0n, max: 3n * 86_400_000_000n }).map((step) => 1_795_000_000_000_000n + step);
const days = fc
  .tuple(fc.array(day, { minLength: 1 }), fc.boolean())
  .map(([few, isMany]) => (isMany ? repeated(few) : few));

describe('instantOrder', () => {
  for (const [what, values] of [
    ['any instants', instants],
    ['thousands of instants', instants.filter(({ length }) => length > 0).map(repeated)],
    ['microseconds within a few days, which have equal upper digits', days],
  ] as const) {
    it(`orders ${what} by instant, and equal instants by position`, () => {
      fc.assert(
        fc.property(values, (unordered) => {
          const view = BigInt64Array.from([0n, ...unordered]).subarray(1);
          expect([...instantOrder(view)]).to.deep.equal(sortedPositions(unordered));
        }),
        FIXED,
      );
    });
  }
});

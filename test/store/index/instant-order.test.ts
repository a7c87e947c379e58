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

describe('instantOrder', () => {
  it('orders by instant, and equal instants by position', () => {
    fc.assert(
      fc.property(instants, (values) => {
        expect([...instantOrder(BigInt64Array.from(values))]).to.deep.equal(sortedPositions(values));
      }),
      FIXED,
    );
  });

  it('orders thousands of instants', () => {
    fc.assert(
      fc.property(
        instants.filter(({ length }) => length > 0),
        (few) => {
          const values = repeated(few);
          expect([...instantOrder(BigInt64Array.from(values))]).to.deep.equal(sortedPositions(values));
        },
      ),
      FIXED,
    );
  });

  it('orders microseconds within a few days, which have equal upper digits', () => {
    const day = fc
      .bigInt({ min: 0n, max: 3n * 86_400_000_000n })
      .map((step) => 1_795_000_000_000_000n + step);
    fc.assert(
      fc.property(fc.array(day, { minLength: 1 }), fc.boolean(), (few, isMany) => {
        const values = isMany ? repeated(few) : few;
        expect([...instantOrder(BigInt64Array.from(values))]).to.deep.equal(sortedPositions(values));
      }),
      FIXED,
    );
  });

  it('reads a view from its offset in the buffer', () => {
    const all = BigInt64Array.from([9n, 3n, -5n, 3n, 1n]);
    expect([...instantOrder(all.subarray(1, 4))]).to.deep.equal([1, 0, 2]);
  });

  it('does not change the instants', () => {
    const values = BigInt64Array.from([3n, -1n, 2n]);
    instantOrder(values);
    expect([...values]).to.deep.equal([3n, -1n, 2n]);
  });
});

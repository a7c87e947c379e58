import { expect } from 'chai';
import fc from 'fast-check';
import { lowerBound, lowerInstantBound } from '../../../src/store/index/row-sets.ts';
import { FIXED } from '../../support/random.ts';

const values = fc.oneof(fc.nat(12), fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1));
const ascending = fc.array(values, { maxLength: 80 }).map((some) => some.sort((a, b) => a - b));

describe('The lower bound of a value in an ascending array', () => {
  it('is the number of values below it, for rows and instants', () => {
    fc.assert(
      fc.property(ascending, values, fc.nat(90), fc.nat(90), (sorted, value, a, b) => {
        const [rows, instants] = [Uint32Array.from(sorted), BigInt64Array.from(sorted.map(BigInt))];
        const below = (from: number, to: number) =>
          sorted.slice(from, to).filter((other) => other < value).length;
        expect(lowerBound(rows, value)).to.equal(below(0, sorted.length));
        expect(lowerInstantBound(instants, BigInt(value))).to.equal(below(0, sorted.length));
        const [from, to] = [Math.min(a, b, sorted.length), Math.min(Math.max(a, b), sorted.length)];
        expect(lowerBound(rows, value, from, to)).to.equal(from + below(from, to));
        expect(lowerInstantBound(instants, BigInt(value), from, to)).to.equal(from + below(from, to));
      }),
      FIXED,
    );
  });

  it('is right for the least and the greatest instants', () => {
    const extremes = BigInt64Array.of(-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n);
    expect(Array.from(extremes, (instant) => lowerInstantBound(extremes, instant))).to.deep.equal([
      0, 1, 2, 3,
    ]);
  });
});

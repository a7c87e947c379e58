import { expect } from 'chai';
import fc from 'fast-check';
import {
  intersection,
  lowerBound,
  lowerInstantBound,
  rowSet,
  union,
} from '../../../src/store/index/row-sets.ts';

const FIXED = { seed: 20261121, numRuns: 1000 };

/** Ascending sets of rows, sometimes of very different sizes. */
const rows = (most: number) =>
  fc.uniqueArray(fc.nat(300), { maxLength: most }).map((values) => Uint32Array.from(values).sort());
const sets = fc.oneof(rows(5), rows(150), rows(300));

function ascending(values: Iterable<number>): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

/** Collection sizes in which these rows are many, and few. */
const rowCounts = fc.constantFrom(301, 5000, 2_000_000);

/** The functions leave their input unchanged. */
describe('Row sets', () => {
  it('have the rows of all sets in their union', () => {
    fc.assert(
      fc.property(fc.array(sets, { maxLength: 10 }), rowCounts, (lists, rowCount) => {
        const before = structuredClone(lists);
        expect([...union(lists, rowCount)]).to.deep.equal(ascending(lists.flatMap((list) => [...list])));
        expect(lists).to.deep.equal(before);
      }),
      FIXED,
    );
  });

  it('have the common rows of two sets in their intersection, in either order', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const before = structuredClone([a, b]);
        const both = [...a].filter((row) => b.includes(row));
        expect([...intersection(a, b)]).to.deep.equal(both);
        expect([...intersection(b, a)]).to.deep.equal(both);
        expect([a, b]).to.deep.equal(before);
      }),
      FIXED,
    );
  });

  it('are made of rows in any order, repeated or not', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300)), rowCounts, (values, rowCount) => {
        const rows = Uint32Array.from(values);
        expect([...rowSet(rows, rowCount)]).to.deep.equal(ascending(values));
        expect([...rows]).to.deep.equal(values);
      }),
      FIXED,
    );
  });

  it('hold the greatest possible rows', () => {
    const high = Uint32Array.from([2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]);
    expect([...intersection(high, high)]).to.deep.equal([...high]);
    expect([...union([high, Uint32Array.from([5])], 2 ** 32)]).to.deep.equal([5, ...high]);
  });
});

const values = fc.oneof(fc.nat(12), fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1));
const ascendingValues = fc.array(values, { maxLength: 80 }).map((some) => some.sort((a, b) => a - b));

describe('The lower bound of a value in an ascending array', () => {
  it('is the number of values below it, for rows and instants', () => {
    fc.assert(
      fc.property(ascendingValues, values, fc.nat(90), fc.nat(90), (sorted, value, a, b) => {
        const [rows, instants] = [Uint32Array.from(sorted), BigInt64Array.from(sorted.map(BigInt))];
        const below = (from: number, to: number) =>
          sorted.slice(from, to).filter((other) => other < value).length;
        expect(lowerBound(rows, value)).to.equal(below(0, sorted.length));
        expect(lowerInstantBound(instants, BigInt(value))).to.equal(below(0, sorted.length));
        const [from, to] = [Math.min(a, b, sorted.length), Math.min(Math.max(a, b), sorted.length)];
        expect(lowerBound(rows, value, from, to)).to.equal(from + below(from, to));
        expect(lowerInstantBound(instants, BigInt(value), from, to)).to.equal(from + below(from, to));
      }),
      { ...FIXED, numRuns: 100 },
    );
  });

  it('is right for the least and the greatest instants', () => {
    const extremes = BigInt64Array.of(-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n);
    expect(Array.from(extremes, (instant) => lowerInstantBound(extremes, instant))).to.deep.equal([
      0, 1, 2, 3,
    ]);
  });
});

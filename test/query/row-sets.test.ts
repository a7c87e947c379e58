import { expect } from 'chai';
import fc from 'fast-check';
import { intersection, rowSet, union } from '../../src/query/row-sets.ts';

const FIXED = { seed: 20261121, numRuns: 1000 };

/** Sets of rows, ascending, now and then of very different sizes. */
const rows = (most: number) =>
  fc.uniqueArray(fc.nat(300), { maxLength: most }).map((values) => Uint32Array.from(values).sort());
const sets = fc.oneof(rows(5), rows(150), rows(300));

function ascending(values: Iterable<number>): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

describe('Row sets', () => {
  it('have the rows of any in their union', () => {
    fc.assert(
      fc.property(fc.array(sets, { minLength: 1, maxLength: 10 }), (lists) => {
        expect([...union(lists)]).to.deep.equal(ascending(lists.flatMap((list) => [...list])));
      }),
      FIXED,
    );
  });

  it('have the rows of both in their intersection, whichever comes first', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const both = [...a].filter((row) => b.includes(row));
        expect([...intersection(a, b)]).to.deep.equal(both);
        expect([...intersection(b, a)]).to.deep.equal(both);
      }),
      FIXED,
    );
  });

  it('are made of rows in any order, repeated or not', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), (values) => {
        expect([...rowSet(Uint32Array.from(values))]).to.deep.equal(ascending(values));
      }),
      FIXED,
    );
  });

  it('hold the greatest rows there are', () => {
    const high = Uint32Array.from([2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]);
    expect([...intersection(high, high)]).to.deep.equal([...high]);
    expect([...union([high, Uint32Array.from([5])])]).to.deep.equal([5, ...high]);
  });

  it('leave what they are made of as it is', () => {
    const [a, b] = [Uint32Array.from([1, 3, 5]), Uint32Array.from([0, 3, 9])];
    union([b, a]);
    intersection(a, b);
    expect([[...a], [...b]]).to.deep.equal([
      [1, 3, 5],
      [0, 3, 9],
    ]);
  });
});

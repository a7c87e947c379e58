import { expect } from 'chai';
import fc from 'fast-check';
import { buildPostingsByInstant, rowsOfKeys } from '../../../src/store/index/postings-by-instant.ts';
import { rowsAtPositions, rowsInRanges } from '../../../src/store/index/wavelet-matrix.ts';

const FIXED = { seed: 20261121, numRuns: 500 };
const KEYS = 5;

const key = fc.integer({ min: 0, max: KEYS - 1 });
/** The keys of a row: usually one, sometimes none or several, in any order. */
const anyKeys = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(key) },
  { weight: 2, arbitrary: fc.uniqueArray(key, { maxLength: KEYS }) },
  { weight: 1, arbitrary: fc.constantFrom([0, 1], [1, 0], [4, 2, 3]) },
);

/** Keys of up to some hundred rows. Few or many consecutive rows have the same keys. */
function keysOfRows(keys: fc.Arbitrary<readonly number[]>): fc.Arbitrary<(readonly number[])[]> {
  const alike = fc.tuple(keys, fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 20, max: 90 })));
  return fc
    .array(alike, { maxLength: 10 })
    .map((parts) => parts.flatMap(([one, count]) => Array.from({ length: count }, () => one)));
}

/** Returns the rows of a collection in an order that the numbers determine. */
function shuffled(count: number, numbers: readonly number[]): number[] {
  const keyed = Array.from({ length: count }, (_, row) => ({ row, at: numbers[row % numbers.length] ^ row }));
  return keyed.sort((a, b) => ((a.at * 7919) % 101) - ((b.at * 7919) % 101)).map(({ row }) => row);
}

/** The builder leaves the pairs unchanged. */
function build(keysOf: readonly (readonly number[])[], rows: readonly number[]) {
  const rowOf = Uint32Array.from(keysOf.flatMap((keys, row) => keys.map(() => row)));
  const keyOf = Uint32Array.from(keysOf.flat());
  const index = buildPostingsByInstant({ rowOf, keyOf }, KEYS, 'updatedAt', Uint32Array.from(rows));
  expect([...keyOf]).to.deep.equal(keysOf.flat());
  return index;
}

describe('Posting lists by an instant', () => {
  for (const [what, keys] of [
    ['one key each', fc.tuple(key)],
    ['any number of keys', anyKeys],
  ] as const) {
    it(`give the rows of any keys in any window, each once, where rows have ${what}`, () => {
      fc.assert(
        fc.property(
          keysOfRows(keys),
          fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 }),
          fc.uniqueArray(key),
          fc.nat(500),
          fc.nat(500),
          (keysOf, numbers, queried, a, b) => {
            const count = keysOf.length;
            const byRank = shuffled(count, numbers);
            const index = build(keysOf, byRank);
            const [low, high] = [Math.min(a, b, count), Math.min(Math.max(a, b), count)];
            const expected = byRank
              .slice(low, high)
              .filter((row) => keysOf[row].some((key) => queried.includes(key)))
              .sort((one, other) => one - other);
            const found = rowsOfKeys(index, queried, Uint32Array.from(byRank), low, high);
            expect(rowsInRanges(found)).to.equal(expected.length);
            expect([...rowsAtPositions(found, 0, expected.length)]).to.deep.equal(expected);
          },
        ),
        FIXED,
      );
    });
  }

  it('gather no rows that share their set of keys with many others, in any order', () => {
    const found = (alike: number) => {
      const count = 2 * alike;
      const keysOf = Array.from({ length: count }, (_, row) => [[0, 1], [2], [1, 0], [3]][row % 4]);
      const rows = shuffled(count, [5, 3, 8]);
      return rowsOfKeys(build(keysOf, rows), [0, 1, 2], Uint32Array.from(rows), 0, count);
    };
    // The group and the rows of key 2; then gathered rows, because 31 are too few for a group.
    expect(found(32).listed).to.have.length(0);
    expect(found(32).ranges).to.have.length(2 * 2);
    expect(found(31).listed).to.have.length(31);
    expect(found(31).ranges).to.have.length(2);
  });
});

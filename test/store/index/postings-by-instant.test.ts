import { expect } from 'chai';
import fc from 'fast-check';
import { buildPostingsByInstant, rowsOfKeys } from '../../../src/store/index/postings-by-instant.ts';
import { rowsAtPositions, rowsInRanges } from '../../../src/store/index/wavelet-matrix.ts';

const FIXED = { seed: 20261121, numRuns: 500 };
const KEYS = 5;

const key = fc.integer({ min: 0, max: KEYS - 1 });
/** The keys of each row: usually one, sometimes none or several, in any order. */
const manyKeys = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.uniqueArray(key, { minLength: 1, maxLength: 1 }) },
    { weight: 2, arbitrary: fc.uniqueArray(key, { maxLength: KEYS }) },
    { weight: 1, arbitrary: fc.constantFrom([0, 1], [1, 0], [4, 2, 3]) },
  ),
  { maxLength: 120 },
);
const oneKey = fc.array(fc.tuple(key), { maxLength: 120 });

/** Returns the rows of a collection in an order that the numbers determine. */
function shuffled(count: number, numbers: readonly number[]): number[] {
  const keyed = Array.from({ length: count }, (_, row) => ({ row, at: numbers[row % numbers.length] ^ row }));
  return keyed.sort((a, b) => ((a.at * 7919) % 101) - ((b.at * 7919) % 101)).map(({ row }) => row);
}

/** The builder leaves the pairs unchanged. */
function build(keysOf: readonly (readonly number[])[], rows: readonly number[], leastGroup?: number) {
  const rowOf = Uint32Array.from(keysOf.flatMap((keys, row) => keys.map(() => row)));
  const keyOf = Uint32Array.from(keysOf.flat());
  const index = buildPostingsByInstant(
    { rowOf, keyOf },
    KEYS,
    'updatedAt',
    Uint32Array.from(rows),
    leastGroup,
  );
  expect([...keyOf]).to.deep.equal(keysOf.flat());
  return index;
}

describe('Posting lists by an instant', () => {
  for (const [what, keys] of [
    ['one key each', oneKey],
    ['any number of keys', manyKeys],
  ] as const) {
    it(`give the rows of any keys in any window, each once, where rows have ${what}`, () => {
      fc.assert(
        fc.property(
          keys,
          fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 }),
          fc.uniqueArray(key),
          fc.nat(130),
          fc.nat(130),
          fc.constantFrom(1, 2, 5, undefined),
          fc.constantFrom(0, 1, 5, undefined),
          (keysOf, numbers, queried, a, b, leastGroup, fewRows) => {
            const count = keysOf.length;
            const byRank = shuffled(count, numbers);
            const index = build(keysOf, byRank, leastGroup);
            const [low, high] = [Math.min(a, b, count), Math.min(Math.max(a, b), count)];
            const expected = byRank
              .slice(low, high)
              .filter((row) => keysOf[row].some((key) => queried.includes(key)))
              .sort((one, other) => one - other);
            const found = rowsOfKeys(index, queried, Uint32Array.from(byRank), low, high, fewRows);
            expect(rowsInRanges(found)).to.equal(expected.length);
            expect([...rowsAtPositions(found, 0, expected.length)]).to.deep.equal(expected);
          },
        ),
        FIXED,
      );
    });
  }

  it('gather no rows that share their set of keys with many others, in any order', () => {
    const keysOf = Array.from({ length: 100 }, (_, row) => [[0, 1], [1, 0], [2], [3]][row % 4]);
    const rows = shuffled(100, [5, 3, 8]);
    const found = (leastGroup: number) =>
      rowsOfKeys(build(keysOf, rows, leastGroup), [0, 1, 2], Uint32Array.from(rows), 0, 100, 0);
    // The group and the rows of key 2; then gathered rows, because 50 are too few for a group.
    expect(found(50).listed).to.have.length(0);
    expect(found(50).ranges).to.have.length(2 * 2);
    expect(found(51).listed).to.have.length(50);
  });

  it('gather the rows of short ranges', () => {
    const keysOf = Array.from({ length: 400 }, (_, row) => [row % 4]);
    const rows = shuffled(400, [5, 3, 8]);
    const found = (high: number) =>
      rowsOfKeys(build(keysOf, rows), [0, 1, 2], Uint32Array.from(rows), 0, high);
    expect(found(40).ranges).to.have.length(0);
    expect(found(40).listed).to.have.length(rows.slice(0, 40).filter((row) => row % 4 < 3).length);
    expect(found(399).ranges).to.have.length(2 * 3);
    expect(found(399).listed).to.have.length(0);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import {
  buildWaveletMatrix,
  rowsAtPositions,
  rowsInRanges,
} from '../../../src/store/index/wavelet-matrix.ts';

const FIXED = { seed: 20261121, numRuns: 400 };

/** Lengths around the boundaries of words and blocks, and some in between. */
const lengths = fc.oneof(
  fc.constantFrom(0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1024, 3000),
  fc.nat(200),
);
/** Powers of two and their neighbours, where a row needs one more bit. */
const rowCounts = fc.oneof(
  fc.constantFrom(1, 2, 3, 4, 5, 255, 256, 257, 65_536, 65_537, 2_000_000, 2 ** 31 - 1),
  fc.integer({ min: 1, max: 300 }),
);

/** Returns rows in any order, with many repeats where there are few. */
const sequences = fc.tuple(lengths, rowCounts).chain(([length, rowCount]) =>
  fc.record({
    rowCount: fc.constant(rowCount),
    sequence: fc.array(fc.integer({ min: 0, max: rowCount - 1 }), { minLength: length, maxLength: length }),
  }),
);

/** Evenly distributed. Most of the numbers of `fc.double` are next to 0. */
const fraction = fc.nat(1000).map((thousandths) => thousandths / 1000);

/** Positions that bound ranges and the gaps between them in turn; a repeated position bounds an empty range. */
const cuts = fc.oneof(fc.array(fraction, { maxLength: 24 }), fc.array(fraction, { maxLength: 400 }));

function rangesOf(fractions: readonly number[], length: number): number[] {
  const bounds = fractions.map((fraction) => Math.round(fraction * length)).sort((a, b) => a - b);
  return bounds.slice(0, bounds.length - (bounds.length % 2));
}

const ascending = (rows: readonly number[]): number[] => [...rows].sort((a, b) => a - b);

describe('A wavelet matrix', () => {
  it('gives the rows of any ranges, merged with other rows, in ascending order from any position', () => {
    fc.assert(
      fc.property(
        sequences,
        cuts,
        fc.array(fc.nat(), { maxLength: 40 }),
        fraction,
        fc.nat(120),
        ({ sequence, rowCount }, fractions, more, skip, perPage) => {
          const matrix = buildWaveletMatrix(Uint32Array.from(sequence), rowCount);
          const ranges = rangesOf(fractions, sequence.length);
          const listed = ascending(more.map((row) => row % rowCount));
          const inRanges = ranges.flatMap((from, i) =>
            i % 2 === 0 ? sequence.slice(from, ranges[i + 1]) : [],
          );
          const expected = ascending([...inRanges, ...listed]);
          const rows = { matrix, ranges: Uint32Array.from(ranges), listed: Uint32Array.from(listed) };
          expect(rowsInRanges(rows)).to.equal(expected.length);
          const start = Math.floor(skip * expected.length);
          const end = Math.min(start + perPage, expected.length);
          for (const [from, to] of [
            [start, end],
            [start, expected.length],
            [0, expected.length],
          ]) {
            expect([...rowsAtPositions(rows, from, to)]).to.deep.equal(expected.slice(from, to));
          }
        },
      ),
      FIXED,
    );
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { addIds, findRow, type IdIndexImage, newIdIndex } from '../../../src/store/index/id-index.ts';
import { hashBytes } from '../../../src/store/index/texts.ts';
import { recordsImage } from '../../../src/store/records-builder.ts';
import type { RecordsImage } from '../../../src/store/records.ts';
import { FIXED, SAME_HASHES, texts } from '../../support/random.ts';

/** `twice` is the first row whose id an earlier one has. */
function build(
  ids: readonly string[],
  runLength = Math.max(1, ids.length),
): { index: IdIndexImage; records: RecordsImage; twice: number | undefined } {
  const texts = ids.map((id) => JSON.stringify({ ticketId: id, then: `"${id}"` }));
  const records = recordsImage(texts);
  const index = newIdIndex(ids.length, 'ticketId');
  for (const [row, id] of ids.entries()) index.hashes[row] = hashBytes(Buffer.from(id));
  let twice: number | undefined;
  for (let row = 0; row < ids.length && twice === undefined; row += runLength)
    twice = addIds(index, records, row, Math.min(row + runLength, ids.length));
  return { index, records, twice };
}

type Example = [repeated: string[], others: string[], runLength: number];

describe('An id index', () => {
  const [one, other] = SAME_HASHES;

  it('finds the row of every id and none for other ids, and reports the first id that repeats another', () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1, max: 20 }), (repeated, others, runLength) => {
        const ids = [...new Set(repeated)];
        const { index, records, twice } = build(ids);
        expect(twice).to.equal(undefined);
        for (const id of [...ids, ...others, '', '"', '\\'])
          expect(findRow(index, records, id)).to.equal(ids.indexOf(id));
        const first = repeated.findIndex((id, i) => repeated.indexOf(id) < i);
        expect(build(repeated, runLength).twice).to.equal(first < 0 ? undefined : first);
      }),
      { ...FIXED, examples: [[one, other, 1], ...one.map((id, i): Example => [[id, other[i], id], [], 1])] },
    );
  });

  it('distinguishes a lone surrogate from the replacement character of UTF-8', () => {
    const { index, records } = build(['\ufffd']);
    expect(findRow(index, records, '\ud800')).to.equal(-1);
  });
});

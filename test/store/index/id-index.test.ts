import { expect } from 'chai';
import fc from 'fast-check';
import { findRow, IdIndexBuilder, type IdIndexImage } from '../../../src/store/index/id-index.ts';
import { hashTexts } from '../../../src/store/index/texts.ts';
import { encodeTexts } from '../../support/encode-texts.ts';
import type { RecordsImage } from '../../../src/store/records.ts';
import { pack } from '../../support/pack.ts';
import { FIXED, SAME_HASHES, texts } from '../../support/random.ts';

/** `twice` is the first id that repeats an earlier one. */
function build(
  ids: readonly string[],
  atOnce = ids.length,
): { index: IdIndexImage; records: RecordsImage; twice: number | undefined } {
  const records = pack(ids.map((id) => ({ ticketId: id, then: `"${id}"` })));
  const builder = new IdIndexBuilder(ids.length, 'ticketId');
  let twice: number | undefined;
  for (let first = 0; first < ids.length && twice === undefined; first += atOnce) {
    twice = builder.addEach(records, first, hashTexts(encodeTexts(ids.slice(first, first + atOnce))));
  }
  return { index: builder.image, records, twice };
}

type Example = [repeated: string[], others: string[], atOnce: number];

describe('An id index', () => {
  const [one, other] = SAME_HASHES;

  it('finds the row of every id and none for other ids, and reports the first id that repeats another', () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1, max: 20 }), (repeated, others, atOnce) => {
        const ids = [...new Set(repeated)];
        const { index, records, twice } = build(ids);
        expect(twice).to.equal(undefined);
        for (const id of [...ids, ...others, '', '"', '\\'])
          expect(findRow(index, records, id)).to.equal(ids.indexOf(id));
        const first = repeated.findIndex((id, i) => repeated.indexOf(id) < i);
        expect(build(repeated, atOnce).twice).to.equal(first < 0 ? undefined : first);
      }),
      { ...FIXED, examples: [[one, other, 1], ...one.map((id, i): Example => [[id, other[i], id], [], 1])] },
    );
  });

  it('distinguishes a lone surrogate from the replacement character of UTF-8', () => {
    const { index, records } = build(['\ufffd']);
    expect(findRow(index, records, '\ud800')).to.equal(-1);
  });
});

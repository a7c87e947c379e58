import { expect } from 'chai';
import fc from 'fast-check';
import { findRow, IdIndexBuilder, type IdIndexImage } from '../../../src/store/index/id-index.ts';
import { encodeTexts } from '../../../src/store/index/texts.ts';
import type { RecordsImage } from '../../../src/store/records.ts';
import { pack } from '../../support/pack.ts';
import { COLLIDING_TEXTS, FIXED, texts } from '../../support/random.ts';

/** `twice` is the first id that repeats an earlier one. */
function build(
  ids: readonly string[],
  atOnce = ids.length,
): { index: IdIndexImage; records: RecordsImage; twice: number | undefined } {
  const records = pack(ids.map((id) => ({ ticketId: id, then: `"${id}"` })));
  const builder = new IdIndexBuilder(ids.length, 'ticketId');
  let twice: number | undefined;
  for (let first = 0; first < ids.length && twice === undefined; first += atOnce) {
    const found = builder.addEach(records, first, encodeTexts(ids.slice(first, first + atOnce)));
    if (found !== undefined) twice = first + found;
  }
  return { index: builder.finish(), records, twice };
}

describe('An id index', () => {
  it('finds the row of every id, and none for other ids', () => {
    fc.assert(
      fc.property(texts, texts, (repeated, others) => {
        const ids = [...new Set(repeated)];
        const { index, records } = build(ids);
        for (const id of [...ids, ...others, '', '"', '\\']) {
          expect(findRow(index, records, id)).to.equal(ids.indexOf(id));
        }
      }),
      FIXED,
    );
  });

  it('reports the first duplicate id, for any number of ids added at once', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 20 }), (ids, atOnce) => {
        const expected = ids.findIndex((id, i) => ids.indexOf(id) < i);
        expect(build(ids, atOnce).twice).to.equal(expected < 0 ? undefined : expected);
      }),
      FIXED,
    );
  });

  it('finds each of many ids', () => {
    const ids = Array.from({ length: 50_000 }, (_, i) => `${i % 3 === 0 ? 'é"\\' : ''}${i}`);
    const { index, records, twice } = build(ids, 1000);
    expect(twice).to.equal(undefined);
    expect(ids.every((id, row) => findRow(index, records, id) === row)).to.equal(true);
    expect(findRow(index, records, '50000')).to.equal(-1);
  });

  it('distinguishes ids with the same hash', () => {
    for (const [one, other] of COLLIDING_TEXTS) {
      const { index, records, twice } = build([one, other]);
      expect(twice).to.equal(undefined);
      expect([one, other].map((id) => findRow(index, records, id))).to.deep.equal([0, 1]);
      const alone = build([one]);
      expect(findRow(alone.index, alone.records, other)).to.equal(-1);
    }
  });

  it('compares the ids themselves, escape sequences included, where hashes are equal', () => {
    const escapes = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\t'), maxLength: 3 });
    fc.assert(
      fc.property(escapes, fc.constantFrom(...COLLIDING_TEXTS), (escape, [one, other]) => {
        const ids = [one, other, one].map((text) => text + escape);
        expect(build(ids).twice).to.equal(2);
      }),
      FIXED,
    );
  });

  it('distinguishes ids that look like JSON, or are a prefix or suffix of another', () => {
    const ids = ['a', 'a"', 'a\\', 'a\\"', 'a","then":"', 'a\u0000', '', ' ', 'aa', '\\u0061', '"', '""'];
    const { index, records, twice } = build(ids);
    expect(twice).to.equal(undefined);
    expect(ids.map((id) => findRow(index, records, id))).to.deep.equal([...ids.keys()]);
    for (const other of ['a"a', 'b', 'a ', '\\', 'u0061'])
      expect(findRow(index, records, other)).to.equal(-1);
  });

  it('distinguishes a lone surrogate from the replacement character of UTF-8', () => {
    const { index, records } = build(['\ufffd']);
    expect(findRow(index, records, '\ud800')).to.equal(-1);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { readCounts, readInstants, readLists, readTexts } from '../../../src/snapshot/load/column-values.ts';
import { decodeText, type Texts } from '../../../src/store/index/texts.ts';
import { FIXED } from '../../support/random.ts';

const textsOver = (...units: string[]) =>
  fc.array(fc.string({ unit: fc.constantFrom(...units) }), { minLength: 1, maxLength: 20 });
const plain = textsOver('a', 'é', '𝕏', ',', '[', ']', ' ');
const escaped = textsOver('a', 'é', '𝕏', '"', '\\', '\0', '\n', ',', '[', ']', ' ');
const column = (values: unknown) => Buffer.from(JSON.stringify(values));

function textsOf(read: Texts | undefined): string[] | undefined {
  return read && Array.from(read.ends, (_, i) => decodeText(read, i));
}

describe('A column of a run', () => {
  for (const [what, arbitrary] of Object.entries({ 'with escapes': escaped, 'without escapes': plain })) {
    it(`decodes to its texts, ${what}, whether repeated in full or by position`, () => {
      const repeated = fc.tuple(arbitrary, fc.infiniteStream(fc.nat(), { noHistory: true }), fc.boolean());
      fc.assert(
        fc.property(repeated, ([distinct, choices, byPosition]) => {
          const values = distinct.flatMap((text) => [text, distinct[choices.next().value % distinct.length]]);
          const elements = values.map((text, i) =>
            byPosition && values.indexOf(text) < i ? values.indexOf(text) : text,
          );
          const read = readTexts(column(elements), values.length);
          const texts = textsOf(read?.texts);
          expect(Array.from(read?.textOf ?? [], (i) => texts?.[i])).to.deep.equal(values);
        }),
        FIXED,
      );
    });

    it(`decodes to its lists, ${what}`, () => {
      const text = arbitrary.map(([first]) => first);
      const lists = fc.array(fc.array(text, { maxLength: 3 }), { minLength: 1, maxLength: 9 });
      fc.assert(
        fc.property(lists, (values) => {
          const read = readLists(column(values), values.length);
          expect(textsOf(read?.texts)).to.deep.equal(values.flat());
          expect([...(read?.counts ?? [])]).to.deep.equal(values.map(({ length }) => length));
        }),
        FIXED,
      );
    });
  }

  it('decodes to instants of 64 bits and lengths of 32 bits', () => {
    const bounds = [0n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n].flatMap((n) => [n, -n, -n - 1n]);
    const instant = fc.oneof(fc.constantFrom(...bounds), fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }));
    const instants = fc.array(instant, { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(instants, (values) => {
        const read = readInstants(Buffer.from(`[${values.join()}]`), values.length);
        expect([...(read ?? [])]).to.deep.equal(values);
      }),
      FIXED,
    );
    expect([...(readCounts(column([0, 7, 2 ** 32 - 1]), 3) ?? [])]).to.deep.equal([0, 7, 2 ** 32 - 1]);
  });

  describe('is invalid unless it is an array with `count` elements of its kind:', () => {
    type Decode = (column: Buffer, count: number) => unknown;
    const expectInvalid = (decode: Decode, count: number, columns: readonly string[]) => {
      for (const text of columns)
        expect(decode(Buffer.from(text, 'latin1'), count), text).to.equal(undefined);
    };

    it('texts', () => {
      const incomplete = '[ ] [] [,] ["a"] ["a","b","c"] ["a","b" ["a";"b"] "a","b"] ["a","b] ["a","b"]]';
      const others =
        '["a",b] ["a",["b"]] ["a",null] {"a":"b"} ["\\ud800","b"] ["\\x","b"] ["a","\\"] "ab" null';
      const positions = '[0,"a"] ["a",1] ["a",-1] ["a",0.5] ["a",00] ["\\n",1] ["\\n",-1] ["\\n",0.5]';
      for (const columns of [incomplete, others, positions]) expectInvalid(readTexts, 2, columns.split(' '));
      expectInvalid(readTexts, 2, [
        '',
        '["a" "b"]',
        '["a","b"] ',
        ' ["a","b"]',
        '["a","\n"]',
        '["a","\x1f"]',
      ]);
      expectInvalid(readTexts, 3, ['["a",0,1]', '["\\n",0,1]', '["a",2,"b"]', '["\\n",2,"b"]']);
      expectInvalid(readTexts, 1, ['["\xff"]', '["\\n\xff"]', '["\\n"] ', '["\\']);
    });

    it('lists', () => {
      const incomplete = '[] [[]] [[],[],[]] [[],[] [["a"],"b"] [["a"],["b"] [["a","b"]] [["a",],["b"]]';
      const others = '[["a"]["b"]] [["a"],[b]] [["a"],[["b"]]] [["a"],[1]] [["a"],null] [["\\ud800"],[]]';
      for (const columns of [incomplete, others]) expectInvalid(readLists, 2, columns.split(' '));
      expectInvalid(readLists, 2, ['', '[["a"],["b]]', '[["a"],["b"]] ']);
      expectInvalid(readLists, 1, ['[["\xff"]]', '[["\\n\xff"]]']);
    });

    it('numbers', () => {
      const columns =
        '[1] [1,2,3] [1,1.5] [1,"2"] [1,null] [1,1e300] [1,2 null {"0":1,"1":2,"length":2}'.split(' ');
      for (const decode of [readCounts, readInstants])
        expectInvalid(decode, 2, ['', ...columns, '[1,{"valueOf":1,"toString":1}]']);
      expectInvalid(readCounts, 2, ['[1,-1]', '[1,4294967296]']);
      expectInvalid(readInstants, 2, [
        '[1,9223372036854775808]',
        '[9007199254740993, 1]',
        '[1,-0]',
        '[1,01]',
      ]);
      expectInvalid(readInstants, 2, [`[1,${'9'.repeat(16_000_000)}]`, `[${'1,'.repeat(8_000_000)}1]`]);
    });
  });
});

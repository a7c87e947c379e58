import { expect } from 'chai';
import fc from 'fast-check';
import { readCounts, readInstants, readLists, readTexts } from '../../../src/snapshot/load/column-values.ts';
import { hashBytes, type Texts } from '../../../src/store/index/texts.ts';
import { FIXED } from '../../support/random.ts';

const texts = fc.array(
  fc.string({ unit: fc.constantFrom('a', 'é', '𝕏', '"', '\\', '\0', '\n', ',', '[', ']', ' ') }),
  {
    minLength: 1,
    maxLength: 20,
  },
);
const plain = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '𝕏', ',', '[', ']', ' ') }), {
  minLength: 1,
  maxLength: 20,
});
const column = (values: unknown) => Buffer.from(JSON.stringify(values));

/** Returns the decoded texts, and checks the hash of each. */
function textsOf(read: Texts | undefined): string[] | undefined {
  return (
    read &&
    Array.from(read.ends, (end, i) => {
      expect(read.hashes[i]).to.equal(hashBytes(read.bytes, read.starts[i], end));
      return Buffer.from(read.bytes.subarray(read.starts[i], end)).toString();
    })
  );
}

describe('A column of a run', () => {
  for (const [what, arbitrary] of Object.entries({ 'with escapes': texts, 'without escapes': plain })) {
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
      const lists = fc.array(
        fc.array(
          arbitrary.map(([text]) => text),
          { maxLength: 3 },
        ),
        { minLength: 1, maxLength: 9 },
      );
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
    const bounds = [
      0n,
      1n,
      -1n,
      2n ** 32n,
      -(2n ** 32n),
      2n ** 53n,
      -(2n ** 53n),
      2n ** 63n - 1n,
      -(2n ** 63n),
    ];
    const instants = fc.array(
      fc.oneof(fc.constantFrom(...bounds), fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n })),
      {
        minLength: 1,
        maxLength: 9,
      },
    );
    fc.assert(
      fc.property(instants, (values) => {
        const target = new BigInt64Array(values.length + 2);
        expect(readInstants(Buffer.from(`[${values.join()}]`), values.length, target, 1)).to.equal(true);
        expect([...target]).to.deep.equal([0n, ...values, 0n]);
      }),
      FIXED,
    );
    expect([...(readCounts(column([0, 7, 2 ** 32 - 1]), 3) ?? [])]).to.deep.equal([0, 7, 2 ** 32 - 1]);
  });

  it('is invalid unless it is an array of `count` elements of its kind', () => {
    const target = new BigInt64Array(2);
    for (const text of [
      '',
      '[',
      ']',
      '[]',
      '[,]',
      '["a"]',
      '["a","b","c"]',
      '["a","b"',
      '["a" "b"]',
      '["a";"b"]',
      '"a","b"]',
      '["a","b]',
      '["a","b"] ',
      ' ["a","b"]',
      '["a","b"]]',
      '["a",b]',
      '["a",["b"]]',
      '["a",1]',
      '["a",null]',
      '{"a":"b"}',
      '["\\ud800","b"]',
      '["\\x","b"]',
      '["a","\\"]',
      '"ab"',
      'null',
      '[0,"a"]',
      '["a",1]',
      '["a",-1]',
      '["a",0.5]',
      '["\\n",1]',
      '["\\n",-1]',
      '["\\n",0.5]',
      '["a",00]',
      '["a","\n"]',
      '["a","\u001f"]',
    ])
      expect(readTexts(Buffer.from(text), 2), text).to.equal(undefined);
    for (const text of ['["a",0,1]', '["\\n",0,1]', '["a",2,"b"]', '["\\n",2,"b"]'])
      expect(readTexts(Buffer.from(text), 3), text).to.equal(undefined);
    for (const text of ['["\xff"]', '["\\n\xff"]']) {
      expect(readTexts(Buffer.from(text, 'latin1'), 1), text).to.equal(undefined);
      expect(readLists(Buffer.from(`[${text}]`, 'latin1'), 1), text).to.equal(undefined);
    }
    for (const text of [
      '',
      '[]',
      '[[]]',
      '[[],[],[]]',
      '[[],[]',
      '[["a"],"b"]',
      '[["a"],["b"]',
      '[["a","b"]]',
      '[["a",],["b"]]',
      '[["a"]["b"]]',
      '[["a"],[b]]',
      '[["a"],[["b"]]]',
      '[["a"],[1]]',
      '[["a"],null]',
      '[["\\ud800"],[]]',
      '[["a"],["b]]',
      '[["a"],["b"]] ',
    ])
      expect(readLists(Buffer.from(text), 2), text).to.equal(undefined);
    for (const text of [
      '',
      '[1]',
      '[1,2,3]',
      '[1,1.5]',
      '[1,-1]',
      '[1,4294967296]',
      '[1,"2"]',
      '[1,null]',
      '[1,2',
      'null',
    ])
      expect(readCounts(Buffer.from(text), 2), text).to.equal(undefined);
    for (const text of [
      '',
      '[1]',
      '[1,2,3]',
      '[1,1.5]',
      '[1,"2"]',
      '[1,null]',
      '[1,9223372036854775808]',
      '[1,1e300]',
      '[1,2',
    ])
      expect(readInstants(Buffer.from(text), 2, target, 0), text).to.equal(false);
  });
});

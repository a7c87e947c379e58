import { expect } from 'chai';
import fc from 'fast-check';
import { findKey, KeyTableBuilder } from '../../../src/store/index/key-table.ts';
import { encodeTexts } from '../../support/encode-texts.ts';
import { FIXED, SAME_HASHES, texts } from '../../support/random.ts';

function intern(builder: KeyTableBuilder, text: string): number {
  // Between other bytes, as in a column.
  const source = Buffer.from(`<${text}>`);
  return builder.intern(source, 1, source.length - 1);
}

describe('A key table', () => {
  const [one, other] = SAME_HASHES;

  it('numbers distinct keys in order of first appearance, one by one and many at once, and finds them alone', () => {
    fc.assert(
      fc.property(texts, texts, (keys, others) => {
        const [builder, atOnce] = [new KeyTableBuilder(), new KeyTableBuilder()];
        const distinct = [...new Set(keys)];
        const numbers = keys.map((key) => distinct.indexOf(key));
        expect(keys.map((key) => intern(builder, key))).to.deep.equal(numbers);
        expect(builder.count).to.equal(distinct.length);
        expect(distinct.map((_, k) => Buffer.from(builder.key(k)).toString())).to.deep.equal(distinct);

        const half = keys.length >> 1;
        const found = new Uint32Array(keys.length + 1);
        atOnce.internEach(encodeTexts(keys.slice(0, half)), found);
        atOnce.internEach(encodeTexts(keys.slice(half)), found.subarray(half));
        expect([...found]).to.deep.equal([...numbers, 0]);
        const image = builder.finish();
        expect(atOnce.finish()).to.deep.equal(image);

        for (const key of [...keys, ...others, ''])
          expect(findKey(image, Buffer.from(key))).to.equal(distinct.indexOf(key));
      }),
      {
        ...FIXED,
        examples: [
          [one, other],
          [[...one, ...other, ...one], []],
        ],
      },
    );
  });

  it('takes no further key when it is finished', () => {
    const builder = new KeyTableBuilder();
    intern(builder, 'a');
    builder.finish();
    expect(intern(builder, 'a')).to.equal(0);
    expect(() => intern(builder, 'b')).to.throw(TypeError, 'finished');
  });
});

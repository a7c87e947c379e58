import { expect } from 'chai';
import fc from 'fast-check';
import { findKey, KeyTableBuilder, sameBytes } from '../../../src/store/index/key-table.ts';
import { encodeTexts } from '../../../src/store/index/texts.ts';
import { COLLIDING_TEXTS, FIXED, texts } from '../../support/random.ts';

function intern(builder: KeyTableBuilder, text: string): number {
  // Between other bytes, as in a column.
  const source = Buffer.from(`<${text}>`);
  return builder.intern(source, 1, source.length - 1);
}

/** Returns the expected table: the distinct texts in order of first appearance. */
const numbered = (keys: readonly string[]) => [...new Set(keys)];

describe('A key table', () => {
  it('numbers distinct keys in order of first appearance', () => {
    fc.assert(
      fc.property(texts, (keys) => {
        const builder = new KeyTableBuilder();
        const expected = numbered(keys);
        expect(keys.map((key) => intern(builder, key))).to.deep.equal(
          keys.map((key) => expected.indexOf(key)),
        );
        expect(builder.count).to.equal(expected.length);
        expect(expected.map((_, k) => Buffer.from(builder.key(k)).toString())).to.deep.equal(expected);
      }),
      FIXED,
    );
  });

  it('numbers many keys at once as it numbers them one by one', () => {
    fc.assert(
      fc.property(texts, texts, (some, more) => {
        const [one, all] = [new KeyTableBuilder(), new KeyTableBuilder()];
        const numbers = new Uint32Array(some.length + more.length + 1);
        for (const [keys, at] of [
          [some, 1],
          [more, some.length + 1],
        ] as const) {
          all.internEach(encodeTexts(keys), numbers.subarray(at));
        }
        expect([...numbers]).to.deep.equal([0, ...[...some, ...more].map((key) => intern(one, key))]);
        expect(all.finish()).to.deep.equal(one.finish());
      }),
      FIXED,
    );
  });

  it('finds every key, and no other', () => {
    fc.assert(
      fc.property(texts, texts, (keys, others) => {
        const builder = new KeyTableBuilder();
        for (const key of keys) intern(builder, key);
        const image = builder.finish();
        const expected = numbered(keys);
        for (const key of [...keys, ...others, '']) {
          const bytes = Buffer.from(key);
          expect(findKey(image, bytes)).to.equal(expected.indexOf(key));
        }
      }),
      FIXED,
    );
  });

  it('distinguishes keys with the same hash, one by one and many at once', () => {
    for (const [one, other] of COLLIDING_TEXTS) {
      const numbers = new Uint32Array(3);
      new KeyTableBuilder().internEach(encodeTexts([one, other, one]), numbers);
      expect([...numbers]).to.deep.equal([0, 1, 0]);
      const builder = new KeyTableBuilder();
      intern(builder, one);
      expect(findKey(builder.finish(), Buffer.from(other))).to.equal(-1);
      expect(intern(builder, other)).to.equal(1);
      const image = builder.finish();
      expect([one, other].map((key) => findKey(image, Buffer.from(key)))).to.deep.equal([0, 1]);
    }
  });

  it('grows to many keys, with long ones and the empty one', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => (i === 77 ? '' : `${'long'.repeat(i % 50)}${i}`));
    const builder = new KeyTableBuilder();
    for (const key of keys) intern(builder, key);
    const image = builder.finish();
    expect(keys.map((key) => findKey(image, Buffer.from(key)))).to.deep.equal([...keys.keys()]);
    expect(findKey(image, Buffer.from('missing'))).to.equal(-1);
  });
});

describe('sameBytes', () => {
  it('compares ranges of the same length', () => {
    const [a, b] = [Buffer.from('xabcx'), Buffer.from('abcd')];
    expect(sameBytes(a, 1, 4, b, 0, 3)).to.equal(true);
    expect(sameBytes(a, 1, 4, b, 0, 4)).to.equal(false);
    expect(sameBytes(a, 0, 3, b, 0, 3)).to.equal(false);
    expect(sameBytes(a, 2, 2, b, 4, 4)).to.equal(true);
  });
});

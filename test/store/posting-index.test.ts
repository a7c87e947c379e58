import { expect } from 'chai';
import fc from 'fast-check';
import { keyNumbers, PostingIndexBuilder, postingList } from '../../src/store/posting-index.ts';
import type { PostingImage } from '../../src/store/posting-index.ts';
import { COLLIDING_TEXTS } from './colliding-texts.ts';
import { FIXED, texts } from './random-texts.ts';

/** `keysOf[row]` are the keys of a row. */
function build(keysOf: readonly (readonly string[])[]): PostingImage {
  const builder = new PostingIndexBuilder(keysOf.flat().length);
  keysOf.forEach((keys, row) => {
    for (const key of keys) {
      const bytes = Buffer.from(key);
      builder.add(row, bytes, 0, bytes.length);
    }
  });
  return builder.finish();
}

function listOf(image: PostingImage, key: string): number[] {
  return keyNumbers(image, [key]).flatMap((number) => [...postingList(image, number)]);
}

function rowsWith(keysOf: readonly (readonly string[])[], key: string): number[] {
  return [...keysOf.keys()].filter((row) => keysOf[row].includes(key));
}

describe('A posting index', () => {
  it('gives the rows of a key, ascending, where each row has one key', () => {
    fc.assert(
      fc.property(texts, texts, (keys, others) => {
        const keysOf = keys.map((key) => [key]);
        const image = build(keysOf);
        for (const key of [...keys, ...others, '']) {
          expect(listOf(image, key)).to.deep.equal(rowsWith(keysOf, key));
        }
      }),
      FIXED,
    );
  });

  it('gives them where a row has any number of keys', () => {
    const few = fc.constantFrom('a', 'b', 'c', '', 'é', 'e\u0301', '\0');
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(few), { maxLength: 60 }), (keysOf) => {
        const image = build(keysOf);
        for (const key of ['a', 'b', 'c', '', 'é', 'e\u0301', '\0', 'A', 'none']) {
          expect(listOf(image, key)).to.deep.equal(rowsWith(keysOf, key));
        }
      }),
      FIXED,
    );
  });

  it('keeps apart keys of the same hash', () => {
    for (const [one, other] of COLLIDING_TEXTS) {
      const image = build([[one], [other], [one, other]]);
      expect(listOf(image, one)).to.deep.equal([0, 2]);
      expect(listOf(image, other)).to.deep.equal([1, 2]);
      expect(listOf(build([[one]]), other)).to.deep.equal([]);
    }
  });

  it('has no rows for any key when it is empty', () => {
    expect(listOf(build([]), '')).to.deep.equal([]);
    expect(listOf(build([[], []]), 'a')).to.deep.equal([]);
  });

  it('lies in shared memory', () => {
    const { starts, rows } = build([['a']]);
    for (const { buffer } of [starts, rows]) expect(buffer).to.be.instanceOf(SharedArrayBuffer);
  });
});

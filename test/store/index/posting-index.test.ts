import { expect } from 'chai';
import fc from 'fast-check';
import {
  keyNumbers,
  type PostingImage,
  PostingIndexBuilder,
  postingList,
} from '../../../src/store/index/posting-index.ts';
import { encodeTexts } from '../../../src/store/index/texts.ts';
import { COLLIDING_TEXTS, FIXED, texts } from '../../support/random.ts';

/** `keysOf[row]` are the keys of a row; some rows are added in batches. */
function build(keysOf: readonly (readonly string[])[], atOnce = 7): PostingImage {
  const builder = new PostingIndexBuilder();
  for (let first = 0; first < keysOf.length; first += atOnce) {
    const rows = keysOf.slice(first, first + atOnce);
    const counts = Uint32Array.from(rows, ({ length }) => length);
    const distinct = [...new Set(rows.flat())];
    const keyOf = Uint32Array.from(rows.flat(), (key) => distinct.indexOf(key));
    if (counts.every((count) => count === 1)) builder.addEach(first, encodeTexts(distinct), keyOf);
    else builder.addLists(first, encodeTexts(rows.flat()), counts);
  }
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

  it('gives the rows of a key where rows have any number of keys', () => {
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

  it('keeps keys with the same hash apart', () => {
    for (const [one, other] of COLLIDING_TEXTS) {
      const image = build([[one], [other], [one, other]]);
      expect(listOf(image, one)).to.deep.equal([0, 2]);
      expect(listOf(image, other)).to.deep.equal([1, 2]);
      expect(listOf(build([[one]]), other)).to.deep.equal([]);
    }
  });

  it('recognizes when the key of another index determines the pair', () => {
    const pairs = fc.array(fc.tuple(fc.nat(2), fc.nat(5)), { maxLength: 20 });
    fc.assert(
      fc.property(pairs, (ofRows) => {
        const [first, second] = [0, 1].map((which) => {
          const builder = new PostingIndexBuilder(ofRows.length);
          ofRows.forEach((keys, row) => {
            const key = Buffer.from(String(keys[which]));
            builder.add(row, key, 0, key.length);
          });
          return builder;
        });
        const partners = Map.groupBy(ofRows, ([, key]) => key).values();
        const goBySecond = [...partners].every((rows) => new Set(rows.map(([key]) => key)).size === 1);
        const crossed = first.crossedWith(second).finish();
        const keys = first.pairsByKeyOf(second);
        expect(keys !== undefined).to.equal(goBySecond);
        if (keys !== undefined) expect({ ...second.finish(), keys }).to.deep.equal(crossed);
      }),
      FIXED,
    );
  });

  it('recognizes this for rows without a key, or with several', () => {
    const build = (pairs: readonly [row: number, key: string][]) => {
      const builder = new PostingIndexBuilder(pairs.length);
      for (const [row, key] of pairs) builder.add(row, Buffer.from(key), 0, key.length);
      return builder;
    };
    const everyRow = build([0, 1, 2].map((row) => [row, 'x']));
    for (const pairs of [
      [0, 1],
      [0, 0, 2],
      [1, 2, 2],
    ]) {
      const some = build(pairs.map((row, i) => [row, `${i}`]));
      expect(some.pairsByKeyOf(everyRow)).to.equal(undefined);
    }
  });

  it('has no rows when it is empty', () => {
    expect(listOf(build([]), '')).to.deep.equal([]);
    expect(listOf(build([[], []]), 'a')).to.deep.equal([]);
  });

  it('lies in shared memory', () => {
    const { starts, rows } = build([['a']]);
    for (const { buffer } of [starts, rows]) expect(buffer).to.be.instanceOf(SharedArrayBuffer);
  });
});

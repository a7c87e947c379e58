import { expect } from 'chai';
import fc from 'fast-check';
import { buildInstantIndex } from '../../../src/store/index/instant-index.ts';
import {
  keyNumbers,
  type PostingImage,
  PostingIndexBuilder,
  postingList,
} from '../../../src/store/index/posting-index.ts';
import { encodeTexts } from '../../support/encode-texts.ts';
import { FIXED, texts } from '../../support/random.ts';

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

/** Adds one row after another. The builder does not know the number of pairs. */
function builderOf(keysOf: readonly (readonly number[])[]): PostingIndexBuilder {
  const builder = new PostingIndexBuilder();
  for (const [row, keys] of keysOf.entries())
    builder.addLists(row, encodeTexts(keys.map(String)), Uint32Array.of(keys.length));
  return builder;
}

function listOf(image: PostingImage, key: string): number[] {
  return keyNumbers(image, [key]).flatMap((number) => [...postingList(image, number)]);
}

function rowsWith(keysOf: readonly (readonly string[])[], key: string): number[] {
  return [...keysOf.keys()].filter((row) => keysOf[row].includes(key));
}

describe('A posting index', () => {
  it('gives the rows of a key, ascending, where rows have one key each or any number', () => {
    const anyNumber = fc.array(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '', 'é', 'e\u0301')), {
      maxLength: 60,
    });
    const oneEach = texts.map((keys) => keys.map((key) => [key]));
    fc.assert(
      fc.property(fc.oneof(anyNumber, oneEach), texts, (keysOf, others) => {
        const image = build(keysOf);
        for (const key of new Set([...keysOf.flat(), ...others, '', 'A']))
          expect(listOf(image, key)).to.deep.equal(rowsWith(keysOf, key));
      }),
      { ...FIXED, numRuns: 2 * FIXED.numRuns },
    );
  });

  it('lies in shared memory with all of its parts, as does the instant index', () => {
    const instants = buildInstantIndex(BigInt64Array.from({ length: 400 }, (_, i) => BigInt(i % 7)));
    const keysOf = Array.from({ length: 400 }, (_, row) => (row % 3 === 0 ? [1, 2] : [3]));
    const image = builderOf(keysOf).finish(['updatedAt', instants.rows]);
    const arraysOf = (part: unknown): ArrayBufferView[] => {
      if (ArrayBuffer.isView(part)) return [part];
      return typeof part === 'object' && part !== null ? Object.values(part).flatMap(arraysOf) : [];
    };
    expect(arraysOf(image)).to.have.length(11);
    for (const { buffer } of arraysOf([image, instants])) expect(buffer).to.be.instanceOf(SharedArrayBuffer);
  });
});

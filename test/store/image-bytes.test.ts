import { expect } from 'chai';
import fc from 'fast-check';
import { IdIndexBuilder, idIndexBytes } from '../../src/store/id-index.ts';
import { imageBytes } from '../../src/store/image-bytes.ts';
import { buildInstantIndex, instantIndexBytes } from '../../src/store/instant-index.ts';
import { KeyTableBuilder, keyTableBytes } from '../../src/store/key-table.ts';
import { PostingIndexBuilder, postingIndexBytes } from '../../src/store/posting-index.ts';
import { recordsBytes } from '../../src/store/records.ts';
import { sharedBytes, sharedFloats, sharedUint32s } from '../../src/store/shared.ts';
import { pack } from './pack.ts';
import { FIXED, texts } from './random-texts.ts';

describe('The bytes of an image', () => {
  it('are those of all its buffers, however deep they lie', () => {
    const image = {
      a: sharedBytes(3),
      b: [{ c: sharedUint32s(2) }, { d: sharedFloats(1) }],
      text: 'x',
      none: null,
    };
    expect(imageBytes(image)).to.equal(3 + 8 + 8);
    expect(imageBytes({})).to.equal(0);
  });

  it('count a buffer once that several parts show, and all of it', () => {
    const bytes = sharedBytes(10);
    expect(imageBytes({ bytes, part: bytes.subarray(2, 4) })).to.equal(10);
    expect(imageBytes({ part: bytes.subarray(2, 4) })).to.equal(10);
  });
});

describe('The bytes that are said to be needed are those that are held', () => {
  const lengthOf = (keys: readonly string[]) => Buffer.from(keys.join('')).length;

  it('by records', () => {
    fc.assert(
      fc.property(texts, (values) => {
        const texts = values.map((value) => JSON.stringify(value));
        const { bytes, offsets } = pack(values);
        expect(recordsBytes(values.length, lengthOf(texts))).to.equal(bytes.length + offsets.byteLength);
      }),
      FIXED,
    );
  });

  it('by indexes of ids and of instants', () => {
    for (let count = 0; count < 300; count++) {
      expect(idIndexBytes(count)).to.equal(imageBytes(new IdIndexBuilder(count, 'id').finish()));
      const instants = new BigInt64Array(count);
      expect(instantIndexBytes(count)).to.equal(imageBytes(buildInstantIndex(instants)));
    }
  });

  it('by key tables, at every number of keys', () => {
    const builder = new KeyTableBuilder();
    let textBytes = 0;
    for (let count = 0; count < 300; count++) {
      expect(keyTableBytes(count, textBytes), `${count} keys`).to.equal(imageBytes(builder.finish()));
      const key = Buffer.from(`key ${count}`);
      builder.intern(key, 0, key.length);
      textBytes += key.length;
    }
  });

  it('by posting indexes', () => {
    fc.assert(
      fc.property(texts, (keyOf) => {
        const builder = new PostingIndexBuilder(keyOf.length);
        keyOf.forEach((key, row) => {
          const bytes = Buffer.from(key);
          builder.add(row, bytes, 0, bytes.length);
        });
        const keys = [...new Set(keyOf)];
        const needed = postingIndexBytes(keyOf.length, keys.length, lengthOf(keys));
        expect(needed).to.equal(imageBytes(builder.finish()));
      }),
      FIXED,
    );
  });
});

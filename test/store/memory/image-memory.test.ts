import { expect } from 'chai';
import fc from 'fast-check';
import { sizedImage } from '../../../src/store/memory/image-memory.ts';
import {
  MEGABYTE,
  sharedBytes,
  sharedInt64s,
  sharedUint32s,
} from '../../../src/store/memory/shared-arrays.ts';
import { FIXED } from '../../support/random.ts';

describe('A small image', () => {
  const small = fc.integer({ min: 0, max: 1000 });
  const numbers = (kind: (length: number) => Uint8Array | Uint32Array) =>
    fc.array(small, { maxLength: 9 }).map((values) => {
      const array = kind(values.length);
      array.set(values);
      return array;
    });
  const instants = fc
    .array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 9 })
    .map((values) => {
      const array = sharedInt64s(values.length);
      array.set(values);
      return array;
    });
  const leaf = fc.oneof(
    numbers(sharedBytes),
    numbers(sharedUint32s),
    instants,
    fc.string(),
    small,
    fc.constant(null),
    fc.constant(undefined),
  );
  const { image } = fc.letrec<{ image: object; part: unknown }>((tie) => ({
    image: fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), tie('part'), { noNullPrototype: true }),
    part: fc.oneof({ depthSize: 'small' }, leaf, tie('image'), fc.array(tie('part'), { maxLength: 4 })),
  }));

  const arraysOf = (part: unknown): ArrayBufferView[] => {
    if (ArrayBuffer.isView(part)) return [part];
    return typeof part === 'object' && part !== null
      ? Object.values<unknown>({ ...part }).flatMap(arraysOf)
      : [];
  };

  it('equals the original, in one buffer, with each array aligned and apart from the others', () => {
    fc.assert(
      fc.property(image, (before) => {
        const { bytesHeld, ...after } = sizedImage(before);
        expect(after).to.deep.equal(before);
        const arrays = arraysOf(after);
        expect(new Set(arrays.map(({ buffer }) => buffer)).size).to.equal(Math.min(1, arrays.length));
        let end = 0;
        for (const { byteOffset, byteLength } of arrays) {
          expect(byteOffset % 8).to.equal(0);
          expect(byteOffset).to.be.at.least(end);
          end = byteOffset + byteLength;
        }
        expect(bytesHeld).to.be.within(end, end + 7);
        for (const { buffer } of arrays) expect(buffer.byteLength).to.equal(bytesHeld);
      }),
      FIXED,
    );
  });

  it('holds an array with two names once, and of a view only its part of the buffer', () => {
    const bytes = sharedBytes(100);
    bytes.set([1, 2, 3], 50);
    const part = bytes.subarray(50, 53);
    const packed = sizedImage({ a: part, b: part });
    expect([...packed.a]).to.deep.equal([1, 2, 3]);
    expect(packed.b).to.equal(packed.a);
    expect(packed.bytesHeld).to.equal(8);
  });

  it('refuses array types that an image does not have', () => {
    expect(() => sizedImage({ a: new Int16Array(1) })).to.throw(TypeError);
  });
});

describe('An image of a megabyte', () => {
  it('is not copied, and has the bytes of all its buffers, at any depth, each counted once and whole', () => {
    const bytes = sharedBytes(MEGABYTE);
    const image = {
      a: sharedBytes(3),
      b: [{ c: sharedUint32s(2) }, { d: bytes.subarray(2, 4), e: bytes.subarray(6) }],
      text: 'x',
      none: null,
    };
    const sized = sizedImage(image);
    expect(sized).to.deep.equal({ ...image, bytesHeld: MEGABYTE + 3 + 8 });
    expect(sized.b).to.equal(image.b);
  });
});

import { expect } from 'chai';
import { imageBytes } from '../../../src/store/memory/image-memory.ts';
import { sharedBytes, sharedFloats, sharedUint32s } from '../../../src/store/memory/shared-arrays.ts';

describe('The bytes of an image', () => {
  it('are those of all its buffers, at any depth', () => {
    const image = {
      a: sharedBytes(3),
      b: [{ c: sharedUint32s(2) }, { d: sharedFloats(1) }],
      text: 'x',
      none: null,
    };
    expect(imageBytes(image)).to.equal(3 + 8 + 8);
    expect(imageBytes({})).to.equal(0);
  });

  it('count a buffer with several views once, and whole', () => {
    const bytes = sharedBytes(10);
    expect(imageBytes({ bytes, part: bytes.subarray(2, 4) })).to.equal(10);
    expect(imageBytes({ part: bytes.subarray(2, 4) })).to.equal(10);
  });
});

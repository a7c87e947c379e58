import { expect } from 'chai';
import { copySlice, sliceOf, viewOf } from '../../src/store/slice.ts';

const GIB = 2 ** 30;

describe('A slice', () => {
  const bytes = new Uint8Array(new SharedArrayBuffer(100), 10, 20).map((_, i) => 100 + i);
  const within = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);

  it('is viewed where it is', () => {
    const view = viewOf({ bytes: within, start: 3, end: 6 });
    expect([...view]).to.deep.equal([103, 104, 105]);
    expect(view.buffer).to.equal(within.buffer);
    expect([...viewOf(sliceOf(within))]).to.deep.equal([...within]);
  });

  it('is copied to where it is wanted', () => {
    const target = Buffer.alloc(6);
    expect(copySlice({ bytes: within, start: 18, end: 20 }, target, 1)).to.equal(2);
    expect(copySlice({ bytes: within, start: 4, end: 4 }, target, 4)).to.equal(0);
    expect([...target]).to.deep.equal([0, 118, 119, 0, 0, 0]);
  });

  it('may lie beyond 4 GiB', () => {
    // Memory that is not touched takes none of the machine's.
    const large = new Uint8Array(new SharedArrayBuffer(5 * GIB));
    const start = 4 * GIB + 7;
    large.set([1, 2, 3], start);
    const target = Buffer.alloc(3);
    copySlice({ bytes: large, start, end: start + 3 }, target, 0);
    expect([...target]).to.deep.equal([1, 2, 3]);
    expect([...viewOf({ bytes: large, start, end: start + 3 })]).to.deep.equal([1, 2, 3]);
  });
});

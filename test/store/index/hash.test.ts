import { expect } from 'chai';
import { COLLIDING_TEXTS } from '../../support/random.ts';
import { hashBytes, slotCount } from '../../../src/store/index/texts.ts';

describe('The hash of a text', () => {
  it('depends only on the bytes of the range, and is the same for the colliding texts of the index tests', () => {
    const bytes = Buffer.from('<<évt_42>>');
    expect(hashBytes(bytes, 2, bytes.length - 2)).to.equal(hashBytes(Buffer.from('évt_42')));
    for (const [one, other] of COLLIDING_TEXTS)
      expect(hashBytes(Buffer.from(one))).to.equal(hashBytes(Buffer.from(other)));
  });

  it('selects one of a power of two of slots, half of which are free', () => {
    for (let count = 0; count < 3000; count++) {
      const slots = slotCount(count);
      expect(Math.log2(slots) % 1).to.equal(0);
      expect(slots).to.be.within(Math.max(4, count * 2 + 1), Math.max(4, count * 4));
    }
  });
});

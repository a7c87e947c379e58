import { expect } from 'chai';
import { COLLIDING_TEXTS } from '../../support/random.ts';
import { hashBytes, slotCount } from '../../../src/store/index/texts.ts';

const hash = (text: string) => hashBytes(Buffer.from(text), 0, Buffer.byteLength(text));

describe('hashBytes', () => {
  it('depends only on the bytes of the range', () => {
    const bytes = Buffer.from('<<évt_42>>');
    expect(hashBytes(bytes, 2, bytes.length - 2)).to.equal(hash('évt_42'));
  });

  it('is an unsigned 32-bit number', () => {
    for (let i = 0; i < 1000; i++)
      expect(hash(String(i)))
        .to.satisfy(Number.isInteger)
        .and.within(0, 2 ** 32 - 1);
  });

  it('spreads ids that differ in a digit over the slots', () => {
    const slots = new Set(Array.from({ length: 1000 }, (_, i) => hash(`tkt_${i}`) & 0x3ff));
    expect(slots.size).to.be.greaterThan(550); // 632 of 1024 are expected by chance
  });

  it('is the same for the colliding texts of the index tests', () => {
    for (const [one, other] of COLLIDING_TEXTS) expect(hash(one)).to.equal(hash(other));
  });
});

describe('slotCount', () => {
  it('is a power of two that leaves half of the slots free', () => {
    for (let count = 0; count < 3000; count++) {
      const slots = slotCount(count);
      expect(Math.log2(slots) % 1).to.equal(0);
      expect(slots)
        .to.be.greaterThan(count * 2)
        .and.at.least(4);
      expect(slots).to.be.at.most(Math.max(4, count * 4));
    }
  });
});

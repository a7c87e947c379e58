import { expect } from 'chai';
import fc from 'fast-check';
import { addHash, HashSet } from '../../../src/snapshot/review/hash-set.ts';
import { times } from '../../support/records.ts';

describe('A set of hashes', () => {
  it('has exactly the hashes that were added', () => {
    const hash = fc.tuple(fc.constantFrom(0, 1, 2, 2 ** 32 - 1), fc.nat(200));
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 300 }), fc.array(hash), (added, asked) => {
        const isHash = ([high, low]: readonly number[]) => high !== 0 || low !== 0;
        const [set, model] = [new HashSet(), new Set<string>()];
        for (const [high, low] of added.filter(isHash)) {
          expect(set.add(high, low)).to.equal(!model.has(`${high} ${low}`));
          model.add(`${high} ${low}`);
        }
        for (const [high, low] of asked.filter(isHash))
          expect(set.has(high, low)).to.equal(model.has(`${high} ${low}`));
      }),
    );
  });

  it('has a hash for each text and seed', () => {
    const set = new HashSet();
    const addedOf = (seed: number) =>
      times(100_000, (i) => {
        const [high, low]: number[] = hashOf(`tkt_${i}`, seed);
        return set.add(high, low);
      });
    expect(addedOf(0).every(Boolean)).to.equal(true);
    expect(addedOf(1).every(Boolean)).to.equal(true);
    expect(addedOf(0).some(Boolean)).to.equal(false);
  });
});

function hashOf(text: string, seed: number): number[] {
  const hash: number[] = [];
  addHash(hash, text, seed);
  return hash;
}

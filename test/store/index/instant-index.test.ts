import { expect } from 'chai';
import fc from 'fast-check';
import { buildInstantIndex } from '../../../src/store/index/instant-index.ts';
import { FIXED } from '../../support/random.ts';

describe('An instant index', () => {
  it('has the instants ascending, the row of each, and the rank of each row', () => {
    const values = fc.array(fc.bigInt({ min: -5n, max: 5n }), { maxLength: 60 });
    fc.assert(
      fc.property(values, (instants) => {
        const { sorted, rows, ranks } = buildInstantIndex(BigInt64Array.from(instants));
        expect([...sorted]).to.deep.equal([...BigInt64Array.from(instants).sort()]);
        expect(Array.from(rows, (row) => instants[row])).to.deep.equal([...sorted]);
        expect(Array.from(rows, (row) => ranks[row])).to.deep.equal([...rows.keys()]);
        expect(new Set(rows)).to.have.property('size', instants.length);
      }),
      FIXED,
    );
  });

  it('lies in shared memory', () => {
    const { sorted, rows, ranks } = buildInstantIndex(BigInt64Array.from([1n]));
    for (const array of [sorted, rows, ranks]) expect(array.buffer).to.be.instanceOf(SharedArrayBuffer);
  });
});

import { expect } from 'chai';
import { REFUSALS, TRANSIENT_REASONS } from '../../../src/snapshot/format/refused-snapshot.ts';

describe('The advice about a refused snapshot', () => {
  it('says of each reason that may pass, and of no other, that the file is tried again', () => {
    const retried = Object.entries(REFUSALS).filter(([, advice]) => advice.endsWith('It is tried again.'));
    expect(retried.map(([reason]) => reason)).to.deep.equal(TRANSIENT_REASONS);
  });
});

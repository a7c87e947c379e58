import { expect } from 'chai';
import {
  REFUSALS,
  RefusedSnapshot,
  TRANSIENT_REASONS,
} from '../../../src/snapshot/format/refused-snapshot.ts';

describe('The message of a refused snapshot', () => {
  it('is cut, so that the log has room for it, whatever it quotes', () => {
    const { message } = new RefusedSnapshot('inconsistent', `its name "${'x'.repeat(10_000_000)}"`);
    expect(message)
      .to.match(/^its name "x+…$/)
      .and.to.have.length.below(2100);
  });
});

describe('The advice about a refused snapshot', () => {
  it('says of each reason that may pass, and of no other, that the file is tried again', () => {
    const retried = Object.entries(REFUSALS).filter(([, advice]) => advice.endsWith('It is tried again.'));
    expect(retried.map(([reason]) => reason)).to.deep.equal(TRANSIENT_REASONS);
  });
});

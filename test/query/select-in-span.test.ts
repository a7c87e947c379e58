import { expect } from 'chai';
import { selectInSpan } from '../../src/query/select.ts';

describe('A selection in a span', () => {
  const select = (where: Parameters<typeof selectInSpan>[4]) =>
    selectInSpan(BigInt64Array.of(1n, 2n, 3n), 'startAt', 0, 3, where);

  it('has the rows of the window', () => {
    const selected = select([{ match: 'window', index: 'startAt', from: 2n }]);
    expect(selected).to.deep.equal({ kind: 'span', from: 1, to: 3 });
  });

  it('refuses a predicate that it cannot apply', () => {
    expect(() => select([{ match: 'anyOf', index: 'startAt', keys: ['1'] }])).to.throw(TypeError);
    expect(() => select([{ match: 'window', index: 'updatedAt', from: 2n }])).to.throw(TypeError);
  });
});

import { expect } from 'chai';
import { count, size, timeSpan } from '../../../scripts/terminal/units.ts';

describe('Figures of commands', () => {
  it('have separators and units', () => {
    expect(count(1_234_567)).to.equal('1,234,567');
    expect([400, 71_041_024, 2_500_000_000].map(size)).to.deep.equal(['0.4 kB', '71.0 MB', '2.50 GB']);
    expect([49, 9949, 9950, 59_499, 59_500, 200_000, 3_599_999, 9_000_000].map(timeSpan)).to.deep.equal([
      ...['0.0 s', '9.9 s', '10 s', '59 s', '1 min 0 s', '3 min 20 s', '1 h 0 min', '2 h 30 min'],
    ]);
  });
});

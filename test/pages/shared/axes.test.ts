import { expect } from 'chai';
import { timeRange } from '../../../src/pages/shared/axes.js';

describe('The axis of times of a chart', () => {
  const NOW = 1_795_284_000;

  it('ends with the last value, and spans a shortest time, also with one value or none', () => {
    expect(timeRange([NOW], 3600)).to.deep.equal([NOW - 3600, NOW]);
    expect(timeRange([NOW - 10, NOW], 3600)).to.deep.equal([NOW - 3600, NOW]);
    expect(timeRange([NOW - 4000, NOW], 3600)).to.deep.equal([NOW - 4000, NOW]);
    expect(timeRange([NOW - 4000, NOW], 0)).to.deep.equal([NOW - 4000, NOW]);
    expect(timeRange([], 0)).to.deep.equal([0, 1]);
  });
});

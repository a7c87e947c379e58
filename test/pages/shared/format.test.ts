import { expect } from 'chai';
import { formatBytes, formatCount, formatDuration, formatNumber } from '../../../src/pages/shared/format.js';

describe('The texts of the pages', () => {
  it('separate the thousands of counts', () => {
    expect([0, 999, 1234567].map(formatCount)).to.deep.equal(['0', '999', '1,234,567']);
  });

  it('show three significant digits of other numbers', () => {
    expect([0, 0.012345, 12.345, 999.9, 12345.6].map(formatNumber)).to.deep.equal([
      '0',
      '0.0123',
      '12.3',
      '1,000',
      '12,346',
    ]);
  });

  it('show sizes in units of 1024 bytes', () => {
    const sizes = [0, 1023, 1024, 1.5 * 1024 ** 2, 20 * 1024 ** 3, 5000 * 1024 ** 4];
    expect(sizes.map(formatBytes)).to.deep.equal(['0 B', '1,023 B', '1 kB', '1.5 MB', '20 GB', '5,000 TB']);
  });

  it('show durations by their two largest units', () => {
    const durations = [0, 0.00025, 0.25, 1, 9.87, 10.9, 59.9, 60, 61, 3600, 7385, 86_400, 90_061];
    expect(durations.map(formatDuration)).to.deep.equal([
      '0 s',
      '0.25 ms',
      '250 ms',
      '1 s',
      '9.87 s',
      '10 s',
      '59 s',
      '1 min',
      '1 min 1 s',
      '1 h',
      '2 h 3 min',
      '1 d',
      '1 d 1 h',
    ]);
  });
});

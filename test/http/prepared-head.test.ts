import { expect } from 'chai';
import { headerLine, joinHeads, prepareHead } from '../../src/http/prepared-head.ts';

describe('prepareHead', () => {
  it('writes a line for each header', () => {
    expect(prepareHead(['A', 'b', 'C-D', '"e"; f'])).to.equal('A: b\r\nC-D: "e"; f\r\n');
    expect(prepareHead([])).to.equal('');
  });

  for (const headers of [
    ['A', 'b\r\nC: d'],
    ['A', 'b\n'],
    ['A', '\0'],
    ['A', '☃'],
    ['A b', 'c'],
    ['A:', 'c'],
    ['', 'c'],
    ['A\r\nB', 'c'],
    ['A', 'b', 'C', '\r'],
  ]) {
    it(`refuses ${JSON.stringify(headers)}`, () => {
      expect(() => prepareHead(headers)).to.throw(TypeError);
    });
  }
});

describe('joinHeads', () => {
  it('puts one after the other', () => {
    expect(joinHeads(prepareHead(['A', 'b']), headerLine('C', 'd'), prepareHead([]))).to.equal(
      'A: b\r\nC: d\r\n',
    );
    expect(joinHeads()).to.equal('');
  });
});

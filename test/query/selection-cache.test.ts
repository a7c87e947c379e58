import { expect } from 'chai';
import { SelectionCache } from '../../src/query/selection-cache.ts';

const NO_ROWS = new Uint32Array(0);
const MEGABYTE = 1024 * 1024;

describe('A cache of selections', () => {
  it('finds each query once while its rows are kept, and evicts the least recently used first', () => {
    const cache = new SelectionCache(3 * 1024);
    const source = {};
    const searched: string[] = [];
    const select = (query: string) =>
      cache.get(source, query, () => {
        searched.push(query);
        return { ranges: NO_ROWS, listed: new Uint32Array(150) };
      });
    for (const query of ['a', 'b', 'c', 'a', 'd', 'a', 'c', 'b']) select(query);
    expect(searched.join('')).to.equal('abcdb');
  });

  it('counts the bytes of the rows and of the query', () => {
    const cache = new SelectionCache(MEGABYTE);
    cache.get({}, 'x'.repeat(5000), () => ({ ranges: new Uint32Array(20), listed: new Uint32Array(100) }));
    expect(cache.bytes).to.be.within(2 * 5000 + 4 * 120, 2 * 5000 + 4 * 120 + 500);
  });

  it('holds copies that retain no other memory', () => {
    const cache = new SelectionCache(MEGABYTE);
    const all = new Uint32Array(new SharedArrayBuffer(4000));
    const { ranges, listed } = cache.get({}, 'a', () => ({
      ranges: all.subarray(10, 20),
      listed: all.subarray(5, 6),
    }));
    expect([ranges.buffer.byteLength, listed.buffer.byteLength]).to.deep.equal([40, 4]);
    for (const { buffer } of [ranges, listed]) expect(buffer).to.be.instanceOf(ArrayBuffer);
  });
});

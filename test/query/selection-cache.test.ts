import { expect } from 'chai';
import fc from 'fast-check';
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

  it('never holds more bytes than its bound, nor returns the rows of another query or collection', () => {
    const query = fc.record({
      source: fc.nat(2),
      text: fc.constantFrom('', 'a', 'b', '1 a', 'x'.repeat(90)),
    });
    const sizes = fc.array(fc.nat(3000), { minLength: 15, maxLength: 15 });
    fc.assert(
      fc.property(fc.array(query, { maxLength: 80 }), sizes, fc.nat(20_000), (queries, lengths, maxBytes) => {
        const cache = new SelectionCache(maxBytes);
        const sources = [{}, {}, {}];
        queries.forEach(({ source, text }) => {
          const length = lengths[(source * 5 + text.length) % lengths.length];
          const rows = new Uint32Array(length).fill(source * 1000 + text.length);
          const found = cache.get(sources[source], text, () => ({ ranges: rows, listed: rows }));
          expect(found).to.deep.equal({ ranges: rows, listed: rows });
          expect(cache.bytes).to.be.at.most(maxBytes);
        });
      }),
      { seed: 20261121, numRuns: 300 },
    );
  });
});

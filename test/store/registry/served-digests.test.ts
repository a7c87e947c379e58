import { expect } from 'chai';
import fc from 'fast-check';
import { newServedDigests, noteServed, wasServed } from '../../../src/store/registry/served-digests.ts';
import type { ListName } from '../../../src/store/organization-image.ts';
import { keyOf } from '../../../src/store/registry/store-view.ts';
import { FIXED } from '../../support/random.ts';

describe(`The memory of served content (seed ${FIXED.seed})`, () => {
  it('has the noted digests, for their organization and list only', () => {
    const text = fc.constantFrom('north', 'south', 'n', 'N1', 'N2', 'orth');
    const list = fc.constantFrom<ListName>('tickets', 'orders');
    const key = fc.tuple(text, list, text).map(([id, name, digest]) => keyOf(id, { name, digest }));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 20 }), key, (noted, asked) => {
        const served = newServedDigests();
        for (const one of noted) noteServed(served, one);
        expect(wasServed(served, asked)).to.equal(noted.includes(asked));
      }),
      FIXED,
    );
  });

  it('has the latest tens of thousands, in constant memory', () => {
    const served = newServedDigests();
    const note = (from: number, count: number) => {
      for (let i = from; i < from + count; i++) noteServed(served, String(i));
    };
    const known = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => wasServed(served, String(from + i))).filter(Boolean).length;
    note(0, 80_000);
    expect(known(0, 80_000)).to.be.above(79_600);
    note(80_000, 800_000);
    expect(known(0, 80_000), 'the oldest').to.be.below(100);
    expect(known(800_000, 80_000), 'the latest').to.be.above(79_600);
    expect(served.byteLength).to.equal(2 * 1024 * 1024);
  });

  it('keeps a digest that is noted again only once', () => {
    const served = newServedDigests();
    for (let i = 0; i < 100; i++) noteServed(served, 'N1');
    expect(served.filter((fingerprint) => fingerprint !== 0n)).to.have.length(1);
  });
});

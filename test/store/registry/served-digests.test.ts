import { expect } from 'chai';
import fc from 'fast-check';
import { newServedDigests, noteServed, wasServed } from '../../../src/store/registry/served-digests.ts';
import { FIXED } from '../../support/random.ts';

describe(`The memory of served content (seed ${FIXED.seed})`, () => {
  it('has the noted digests, for their organization only', () => {
    const name = fc.constantFrom('north', 'south', 'n', 'N1', 'N2', 'orth');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, name), { maxLength: 20 }), fc.tuple(name, name), (noted, asked) => {
        const served = newServedDigests();
        for (const [organizationId, digest] of noted) noteServed(served, organizationId, digest);
        const expected = noted.some(([id, digest]) => id === asked[0] && digest === asked[1]);
        expect(wasServed(served, ...asked)).to.equal(expected);
      }),
      FIXED,
    );
  });

  it('has the latest tens of thousands, in constant memory', () => {
    const served = newServedDigests();
    const note = (from: number, count: number) => {
      for (let i = from; i < from + count; i++) noteServed(served, 'north', String(i));
    };
    const known = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => wasServed(served, 'north', String(from + i))).filter(Boolean)
        .length;
    note(0, 20_000);
    expect(known(0, 20_000)).to.be.above(19_900);
    note(20_000, 200_000);
    expect(known(0, 20_000), 'the oldest').to.equal(0);
    expect(known(200_000, 20_000), 'the latest').to.be.above(19_900);
    expect(served.byteLength).to.equal(512 * 1024);
  });

  it('keeps a digest that is noted again only once', () => {
    const served = newServedDigests();
    for (let i = 0; i < 100; i++) noteServed(served, 'north', 'N1');
    expect(served.filter((fingerprint) => fingerprint !== 0n)).to.have.length(1);
  });
});

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { sortKey } from '../../../src/snapshot/builder/staging/staging-file.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { inOrganization, minimalOffer, minimalOrder, minimalTicket, times } from '../../support/records.ts';
import { type ImportRecord, organizationOf, recordsOf } from '../../support/import-folder.ts';
import { Builds } from '../builds.ts';

describe('The runs of a snapshot', () => {
  const { build } = new Builds();
  const ours = inOrganization('ours');

  /** Builds a snapshot. Returns the ids, size and digest of each run of a collection. */
  async function runsOf(collection: 'tickets' | 'orders' | 'offers', records: readonly ImportRecord[]) {
    const organizations = [{ organizationId: 'ours' }, { organizationId: 'theirs' }];
    const { file, image } = await build({ organizations, [collection]: records });
    const ids = [...recordsOf(organizationOf(image, 'ours')[collection]).keys()];
    const [{ runs }] = inspectSnapshot(file).organizations;
    return runs[collection].map(({ firstRow, recordCount, recordBytes, digest }) => ({
      ids: ids.slice(firstRow, firstRow + recordCount),
      bytes: recordBytes,
      digest,
    }));
  }

  const COUNT = 6000;
  const ticket = (i: number) =>
    ours(minimalTicket(`tkt_${i}`, { issuedAt: new Date(-i * 1000).toISOString() }));
  const tickets = times(COUNT, ticket);
  /** Returns whether the SHA-256 of an id ends in ten zero bits. */
  const begins = (id: string) => (createHash('sha256').update(id).digest().readUInt16BE(30) & 0x3ff) === 0;

  it('begin at ids whose SHA-256 ends in ten zero bits, and at the first record', async () => {
    const runs = await runsOf('tickets', tickets);
    const ids = runs.map(({ ids }) => ids);
    expect(ids.flat()).to.deep.equal(times(COUNT, (i) => `tkt_${i}`));
    const firsts = ids.map(([first]) => first);
    expect(firsts).to.deep.equal(ids.flat().filter((id, row) => row === 0 || begins(id)));
    expect(firsts.length).to.be.within(3, 12);
  });

  it('keep their digests unless their own records change, wherever records are added or removed', async () => {
    const before = await runsOf('tickets', tickets);
    const changed = tickets.with(5000, { ...tickets[5000], currency: 'XXX' }).toSpliced(10, 3);
    const after = await runsOf('tickets', [...changed, ticket(3000.5)]);
    const digests = new Set(before.map(({ digest }) => digest));
    const others = after.filter(({ digest }) => !digests.has(digest));
    expect(others.flatMap(({ ids }) => ids)).to.include.members(['tkt_9', 'tkt_5000', 'tkt_3000.5']);
    expect(others.length).to.be.within(1, 3);
    expect(after.length).to.equal(before.length);
  });

  it('end at 4,096 records', async () => {
    const plain = times(30_000, (i) => i).filter((i) => !begins(`tkt_${i}`));
    const runs = await runsOf('tickets', plain.slice(0, 8200).map(ticket));
    expect(runs.map(({ ids }) => ids.length)).to.deep.equal([4096, 4096, 8]);
  });

  it('end at 16 MiB', async () => {
    const wide = (i: number) => ours(minimalOrder(`ord_${i}`, { paymentMethod: 'é'.repeat(520_000) }));
    const runs = await runsOf('orders', times(20, wide));
    expect(runs.map(({ ids }) => ids.length)).to.deep.equal([16, 4]);
    expect(runs[0].bytes).to.be.within(15 * 2 ** 20, 16 * 2 ** 20);
  });

  it('end at 16 MiB of a column other than the records', async () => {
    const heldByEventIds = times(10, (i) => `${i}${'é'.repeat(300_000)}`);
    const offers = ['a', 'b', 'c', 'd'].map((id) => ours(minimalOffer(id, 'BUNDLE', { heldByEventIds })));
    const runs = await runsOf('offers', offers);
    expect(runs.map(({ ids }) => ids)).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });
});

describe('The sort key of an id', () => {
  it('sorts by UTF-8 bytes as the id does by UTF-16 code units, and is distinct', () => {
    const ids = fc.string({
      unit: fc.oneof(
        fc.constantFrom('a', '\0', '\ud7ff', '\ue000', '\uf8ff', '\uffff', '\u{10000}', '\u{10ffff}'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 4,
    });
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const order = a === b ? 0 : a < b ? -1 : 1;
        expect(Buffer.compare(Buffer.from(sortKey(a)), Buffer.from(sortKey(b)))).to.equal(order);
      }),
      { seed: 20261121, numRuns: 500 },
    );
  });
});

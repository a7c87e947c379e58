import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { sortKey } from '../../../src/snapshot/builder/staging/staging-file.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { recordsIn, times } from '../../support/records.ts';
import { type ImportRecord, organizationOf, recordsOf } from '../../support/import-folder.ts';
import { Builds } from '../builds.ts';

describe('The runs of a snapshot', () => {
  const { build } = new Builds();
  const { ticket, offer } = recordsIn('ours');

  /** Builds a snapshot. Returns the ids of each run of a collection. */
  async function runsOf(collection: 'tickets' | 'offers', records: readonly ImportRecord[]) {
    const organizations = [{ organizationId: 'ours' }, { organizationId: 'theirs' }];
    const { file, image } = await build({ organizations, [collection]: records });
    const ids = [...recordsOf(organizationOf(image, 'ours')[collection]).keys()];
    const [{ runs }] = inspectSnapshot(file).organizations;
    return runs[collection].map(({ firstRow, recordCount }) => ids.slice(firstRow, firstRow + recordCount));
  }

  /** Makes tickets in list order. */
  const ticketsOf = (ids: readonly string[]) =>
    ids.map((id, i) => ticket(id, { issuedAt: new Date(-i * 1000).toISOString() }));
  /** Returns whether the SHA-256 of an id ends in ten zero bits. */
  const begins = (id: string) => (createHash('sha256').update(id).digest().readUInt16BE(30) & 0x3ff) === 0;
  const ids = times(15_000, (i) => `tkt_${i}`);

  it('begin at ids whose SHA-256 ends in ten zero bits, and at the first record', async () => {
    const some = ids.slice(0, 6000);
    const runs = await runsOf('tickets', ticketsOf(some));
    expect(runs.flat()).to.deep.equal(some);
    const firsts = runs.map(([first]) => first);
    expect(firsts).to.deep.equal(some.filter((id, row) => row === 0 || begins(id)));
    expect(firsts.length).to.be.within(3, 12);
  });

  it('end at 4,096 records', async () => {
    const others = ids.filter((id) => !begins(id)).slice(0, 8200);
    const runs = await runsOf('tickets', ticketsOf(others));
    expect(runs.map(({ length }) => length)).to.deep.equal([4096, 4096, 8]);
  });

  it('end at 16 MiB of a column other than the records', async () => {
    const heldByEventIds = times(10, (i) => `${i}${'é'.repeat(300_000)}`);
    const offers = ['a', 'b', 'c', 'd'].map((id) => offer(id, 'BUNDLE', { heldByEventIds }));
    expect(await runsOf('offers', offers)).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });
});

describe('The sort key of an id', () => {
  it('sorts by bytes as the id does by UTF-16 code units, and is distinct', () => {
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
        expect(Buffer.compare(sortKey(a), sortKey(b))).to.equal(order);
      }),
      { seed: 20261121, numRuns: 500 },
    );
  });
});

import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { DEFAULT_SAMPLE, writeSample } from '../../../scripts/sample/write-sample.ts';
import { memoryNeed } from '../../../src/snapshot/admission/memory.ts';
import {
  type DeclaredList,
  listDigest,
  type ManifestOrganization,
  NO_RECORDS,
} from '../../../src/snapshot/format/manifest.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { INHERITED } from '../../support/command.ts';
import { declaration } from '../../support/empty-image.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { recordsIn, times } from '../../support/records.ts';
import { build, writeImport } from '../../support/import-folder.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';
import { memoryOf, sectionsOf } from '../../../src/store/organization-image.ts';
import { keyOf } from '../../../src/store/registry/store-view.ts';

describe('The estimated memory of a load', () => {
  const inFolder = folderForAll();

  /** Builds a snapshot of an import folder, loads it, and compares the estimate with the load. */
  async function expectWithinBounds(folder: string, maxRatio: number): Promise<void> {
    const path = `${folder}.sqlite`;
    await build(folder, path);
    const { held, peak } = memoryNeed(inspectSnapshot(path).organizations);
    const { organizations } = readSnapshot(path);
    const actuallyHeld = memoryOf(organizations.flatMap(sectionsOf)).bytes;
    expect(held / actuallyHeld, 'held').to.be.within(1, maxRatio);
    const measured = new URL('../../support/measured-load.ts', import.meta.url).pathname;
    const growth = Number.parseInt(
      execFileSync(process.execPath, [measured, path], { env: INHERITED, encoding: 'utf8' }),
    );
    // The allowance for the loader exceeds its growth here by half.
    expect(peak / MEGABYTE, 'at its peak').to.be.within(
      growth / MEGABYTE,
      (maxRatio * growth) / MEGABYTE + 96,
    );
  }

  for (const [organizations, events, tickets] of [
    [1, 10, 15_000],
    [100, 100, 3000],
    [2, 200, 2000],
  ]) {
    it(`covers a sample with at most a third to spare (${organizations} organizations, ${events} events, ${tickets} tickets)`, async () => {
      const output = inFolder(`sample-${organizations}`);
      await writeSample({ ...DEFAULT_SAMPLE, organizations, events, tickets, output });
      await expectWithinBounds(output, 1.34);
    });
  }

  it('covers records with the fewest fields and keys of 40 bytes', async () => {
    const { event, session, ticket, order } = recordsIn('ours');
    const long = (id: string) => id.padEnd(40, '-');
    writeImport(inFolder('short'), {
      organizations: [{ organizationId: 'ours' }],
      events: times(400, (i) => event(long(`e${i}`))),
      sessions: times(800, (i) => session(`s${i}`, long(`e${i % 400}`))),
      tickets: times(8000, (i) => ticket(`t${i}`, { qrCode: long(`q${i}`), orderId: long(`o${i}`) })),
      orders: times(8000, (i) =>
        order(long(`o${i}`), { customer: { customerId: 'c', email: long(`${i}@`) } }),
      ),
    });
    await expectWithinBounds(inFolder('short'), 1.6);
  });

  /** Declares lists of records of a usual size, by the number of records. */
  const declared = (tickets: number, orders: number): ManifestOrganization => {
    const list = (recordCount: number, bytes: number, texts: number, elements: number): DeclaredList => ({
      ...NO_RECORDS,
      recordCount,
      recordBytes: recordCount * bytes,
      textBytes: recordCount * texts,
      listElements: recordCount * elements,
    });
    return declaration('north', { tickets: list(tickets, 932, 92, 0), orders: list(orders, 1805, 60, 1) });
  };

  it('exceeds the measurement for 2,000,000 tickets and 770,000 orders by at most a quarter', () => {
    const { held, peak } = memoryNeed([declared(2_000_000, 770_000)]);
    expect(held / MEGABYTE).to.be.within(3439, 1.25 * 3439);
    expect(peak / MEGABYTE).to.be.within(3645, 1.25 * 3645);
  });

  it('is that of indexes and of the loader where the records are in memory, and of the changes where the lists are', () => {
    const organizations = [declared(2_000_000, 770_000)];
    const cold = memoryNeed(organizations);
    const shared = memoryNeed(organizations, new Set(), 0);
    const recordBytes = 2_000_000 * 932 + 770_000 * 1805;
    expect(cold.held - shared.held).to.equal(recordBytes);
    expect(cold.peak - shared.peak).to.equal(recordBytes);
    const lists = ['events', 'tickets', 'orders', 'offers'] as const;
    const keys = lists.map((name) => keyOf('north', { name, digest: listDigest(organizations[0], name) }));
    expect(memoryNeed(organizations, new Set(keys)).held).to.equal(2_770_000 * 12);
  });

  it('peaks above the images by the need of one organization, since they are loaded one after the other', () => {
    const [one, ten] = [1, 10].map((count) => memoryNeed(Array(count).fill(declared(100_000, 40_000))));
    expect(ten.held).to.be.closeTo(one.held * 10, 10);
    expect(ten.peak - ten.held).to.be.closeTo(one.peak - one.held, 2 * MEGABYTE);
  });
});

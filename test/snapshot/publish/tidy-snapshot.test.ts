import { copyFileSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { changesOf, inspectSnapshot, openSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { tidySnapshot } from '../../../src/snapshot/publish/tidy-snapshot.ts';
import { buildFile, PRODUCED_AT } from '../../support/import-folder.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

describe('Tidying', () => {
  const inFolder = folderForEach();
  const served = () => inFolder('served/a.sqlite');
  let feeds: number;

  beforeEach(async () => {
    feeds = 0;
    mkdirSync(inFolder('served'));
    await buildFile(SMALL_IMPORT, served(), { permits: [] });
  });

  /** Publishes a change. Returns the id of the snapshot. */
  async function feed(): Promise<string> {
    const tickets = [{ ...SMALL_IMPORT.tickets[0], status: `STATUS ${++feeds}` }];
    const producedAt = new Date(PRODUCED_AT.getTime() + feeds);
    return (await buildFile({ tickets }, served(), { base: served(), producedAt, permits: [] })).snapshotId;
  }

  const wholeId = () => {
    using snapshot = openSnapshot(served());
    return snapshot.whole.manifest.snapshotId;
  };
  /** Keeps a copy of a file of the snapshot. Returns what brings it back. */
  const keep = (path: string) => {
    copyFileSync(path, inFolder(`kept-${feeds}`));
    const kept = inFolder(`kept-${feeds}`);
    return () => {
      renameSync(kept, path);
    };
  };

  it('makes one file of the same snapshot once the changes have together its size', async () => {
    let written = 0;
    for (;;) {
      const snapshotId = await feed();
      const [changes, whole] = [changesOf(served()), served()].map((path) => statSync(path).size);
      written += changes;
      // The estimate takes the earlier files for smaller ones.
      if (!(await tidySnapshot(served()))) expect(written).to.be.below(2.5 * whole);
      else {
        expect(written).to.be.greaterThan(whole);
        expect([wholeId(), inspectSnapshot(served()).snapshotId]).to.deep.equal([snapshotId, snapshotId]);
        expect(readSnapshot(served(), { isThorough: true }).snapshotId).to.equal(snapshotId);
        break;
      }
    }
    expect(await tidySnapshot(served(), true)).to.equal(false);
    const next = await feed();
    expect(inspectSnapshot(served()).snapshotId).to.equal(next);
    expect(readdirSync(inFolder('served'))).to.have.members([
      '.a.lock',
      'a.sqlite',
      'a.sqlite-import',
      'a.changes',
    ]);
  });

  it('makes a readable file if its longest record was deleted', async () => {
    const tickets = [{ ...SMALL_IMPORT.tickets[0], ticketId: 'long', offerName: 'x'.repeat(1_000_000) }];
    const options = { base: served(), permits: [] };
    await buildFile({ tickets }, served(), { ...options, producedAt: new Date(PRODUCED_AT.getTime() + 1) });
    const deletions = [{ collection: 'tickets', id: 'long' }];
    await buildFile({ deletions }, served(), {
      ...options,
      producedAt: new Date(PRODUCED_AT.getTime() + 2),
    });
    await tidySnapshot(served(), true);
    expect(wholeId()).to.equal(readSnapshot(served(), { isThorough: true }).snapshotId);
  });

  it('lets feeds go on meanwhile', async () => {
    await feed();
    const bringBack = keep(changesOf(served()));
    const next = await feed();
    const nextChanges = keep(changesOf(served()));
    bringBack();
    const tidying = tidySnapshot(served(), true);
    nextChanges();
    expect(await tidying).to.equal(true);
    expect(wholeId()).to.not.equal(next);
    expect(readSnapshot(served(), { isThorough: true }).snapshotId).to.equal(next);
  });

  it('gives up if another whole file, or another history, has come meanwhile', async () => {
    const first = await feed();
    const former = keep(changesOf(served()));
    await feed();
    const tidying = tidySnapshot(served(), true);
    former();
    expect(await tidying).to.equal(false);
    expect(inspectSnapshot(served()).snapshotId).to.equal(first);
    const again = keep(served());
    const second = tidySnapshot(served(), true);
    again();
    expect(await second).to.equal(false);
    expect(readdirSync(inFolder('served')).filter((name) => name.includes('tidying'))).to.deep.equal([]);
  });
});

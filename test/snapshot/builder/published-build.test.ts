import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import type { BuildOptions } from '../../../src/snapshot/builder/build-options.ts';
import { PERMITS } from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { changesOf, inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { NotPublished, publishSnapshot } from '../../../src/snapshot/publish/publish-snapshot.ts';
import { tidySnapshot } from '../../../src/snapshot/publish/tidy-snapshot.ts';
import { replaceInRecords } from '../../support/alter-records.ts';
import { buildFile, digestsOf, type Files } from '../../support/import-folder.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { refusalOf } from '../../support/refusal.ts';
import { smallImport, SMALL_IMPORT } from '../../support/small-import.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

const LATER = new Date('2026-11-22T00:00:00Z');
const NO_CHANGES = { organizations: [] };
const ONE_TICKET = { tickets: [{ ...SMALL_IMPORT.tickets[0], status: 'NEW' }] };

describe('A build that publishes', () => {
  const snapshot = new SoundSnapshot();
  const inFolder = folderForEach();
  const served = () => inFolder('served/a.sqlite');

  beforeEach(() => {
    mkdirSync(inFolder('served'));
    copyFileSync(snapshot.path, served());
  });

  function publish(files: Files, options: Partial<BuildOptions> = {}) {
    return buildFile(files, inFolder('files'), {
      output: served(),
      producedAt: LATER,
      permits: [],
      ...options,
    });
  }

  /** Expects a build to leave the published file unchanged, and no other. Returns the reason of the refusal. */
  async function refused(files: Files, options: Partial<BuildOptions> = {}): Promise<string> {
    const before = readFileSync(served());
    const error = await refusalOf(publish(files, options), Error);
    expect(readFileSync(served()).equals(before)).to.equal(true);
    expect(readdirSync(inFolder('served')).filter((name) => /^\..*-/.test(name))).to.deep.equal([]);
    const refusal = error instanceof NotPublished ? error.cause : error;
    return refusal instanceof RefusedSnapshot ? refusal.reason : error.message;
  }

  it('replaces its base, or what it was compared with, and gives the snapshot its permits', async () => {
    const { snapshotId, isDescendant } = await publish(ONE_TICKET, { base: served(), permits: PERMITS });
    expect(isDescendant).to.equal(true);
    expect(inspectSnapshot(served())).to.include({ snapshotId }).and.deep.include({ permits: PERMITS });
    const { history } = await publish(NO_CHANGES, { base: served(), producedAt: new Date() });
    expect(history).to.include({ changed: 0, deleted: 0 });
    expect(inspectSnapshot(served()).permits).to.deep.equal([]);
    expect(
      (await publish(SMALL_IMPORT, { previous: served(), producedAt: new Date() })).isDescendant,
    ).to.equal(true);
    expect(digestsOf(readSnapshot(served()))).to.deep.equal(digestsOf(snapshot.image));
    expect(readdirSync(inFolder('served'))).to.have.members(['.a.lock', 'a.sqlite']);
  });

  it('reports a snapshot that does not descend from the replaced one', async () => {
    expect((await publish(SMALL_IMPORT)).isDescendant).to.equal(false);
  });

  it('is refused for the reasons for which a publication is', async () => {
    const { organizations } = SMALL_IMPORT;
    expect(await refused({ organizations })).to.equal('shrunk');
    expect(await refused(smallImport(['north']))).to.equal('organization-gone');
    expect(await refused(SMALL_IMPORT, { producedAt: new Date('2020-01-01T00:00:00Z') })).to.equal('older');
    copyFileSync(snapshot.path, inFolder('served/other.sqlite'));
    expect(await refused(ONE_TICKET, { base: served() })).to.equal('conflict');
  });

  it('is refused as one whole file if a record of its base is damaged, also beside the changed ones', async () => {
    for (const text of ['ticketId', 'orderId']) {
      const bytes = readFileSync(snapshot.path);
      bytes[bytes.indexOf('JPY', bytes.lastIndexOf(`{"${text}`))] ^= 1;
      writeFileSync(served(), bytes);
      for (const files of [NO_CHANGES, ONE_TICKET])
        expect(await refused(files, { base: served(), isStrict: true })).to.equal('damaged');
      await publish(NO_CHANGES, { base: served() });
      expect((await refusalOf(tidySnapshot(served(), true), RefusedSnapshot)).reason).to.equal('damaged');
      rmSync(changesOf(served()));
    }
  });

  it('parses the records of an earlier snapshot that is not published', async () => {
    const base = snapshot.altered('tickets', replaceInRecords(',"currency":', ',"currency"'));
    expect(await refused(NO_CHANGES, { base })).to.equal('inconsistent');
    const copy = inFolder('copy.sqlite');
    copyFileSync(served(), copy);
    await publish(NO_CHANGES, { base: copy });
    const bad = { ...SMALL_IMPORT, offers: [{ organizationId: 'north' }] };
    expect(await refused(bad, { previous: base, holdBack: inFolder('held') })).to.equal('inconsistent');
  });

  it('lets a publication in its place wait, under one lock', async () => {
    const lock = new Database(inFolder('served/.a.lock')).exec('BEGIN IMMEDIATE');
    const file = inFolder('files');
    await buildFile(SMALL_IMPORT, file, { producedAt: LATER });
    const publication = { file, path: served(), permits: [] };
    expect((await refusalOf(publishSnapshot(publication), NotPublished)).message).to.include('is locked');
    lock.close();
    await publishSnapshot(publication);
  });
});

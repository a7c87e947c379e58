import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Permit } from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import {
  NotPublished,
  publishedName,
  type PublishOptions,
  publishSnapshot,
} from '../../../src/snapshot/publish/publish-snapshot.ts';
import { alterRuns, replaceInRecords } from '../../support/alter-runs.ts';
import { reseal } from '../../support/digests.ts';
import { folderForEach } from '../../support/temporary-folder.ts';
import { build, type Import, writeImport } from '../../support/import-folder.ts';
import { refusalOf, thrownBy } from '../../support/refusal.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('The publication of a snapshot', () => {
  const snapshot = new SoundSnapshot();
  const folder = folderForEach();
  const served = (name = '') => join(folder('served'), name);

  beforeEach(() => {
    mkdirSync(folder('served'));
  });

  const publish = (options: Partial<PublishOptions> = {}) =>
    publishSnapshot({ file: snapshot.path, folder: served(), name: 'a.sqlite', permits: [], ...options });

  /** Expects a refusal that leaves the folder unchanged. Returns its reason. */
  async function refused(options: Partial<PublishOptions> = {}): Promise<string> {
    const before = contentOf(served());
    const error = await refusalOf(publish(options), NotPublished);
    expect(contentOf(served())).to.deep.equal(before);
    return error.cause instanceof RefusedSnapshot ? error.cause.reason : error.message;
  }

  async function built(name: string, files: Import, producedAt?: Date): Promise<string> {
    writeImport(folder(name), files);
    await build(folder(name), folder(`${name}.sqlite`), producedAt ? { producedAt } : {});
    return folder(`${name}.sqlite`);
  }

  it('creates an identical file, and no other, and replaces it by a rename, so that its readers keep it', async () => {
    const { path, manifest } = await publish();
    expect(path).to.equal(served('a.sqlite'));
    expect(manifest).to.include({ snapshotId: snapshot.image.snapshotId });
    expect(contentOf(served())).to.deep.equal({ 'a.sqlite': readFileSync(snapshot.path, 'base64') });
    const reader = statSync(path).ino;
    await publish();
    expect(statSync(path).ino).to.not.equal(reader);
  });

  it('parses only the tickets of runs that the replaced file lacks', async () => {
    const broken = snapshot.copy();
    alterRuns(broken, 'tickets', replaceInRecords(',"currency":', ',"currency"'), 'north');
    reseal(broken);
    expect(await refused({ file: broken })).to.equal('inconsistent');
    await publish();
    expect(await refused({ file: broken })).to.equal('inconsistent');
    copyFileSync(broken, served('a.sqlite'));
    await publish({ file: broken });
  });

  for (const [mode, umask] of [
    [0o440, 0],
    [0o644, 0o22],
    [0o600, 0o77],
  ]) {
    it(`makes the copy of a file of mode ${mode.toString(8)} writable for the owner, readable for the group`, async () => {
      const file = snapshot.copy();
      chmodSync(file, mode);
      const before = process.umask(umask);
      try {
        await publish({ file, permits: ['shrink'] });
      } finally {
        process.umask(before);
      }
      expect(statSync(served('a.sqlite')).mode & 0o777).to.equal(0o640);
    });
  }

  it('gives the copy exactly the requested permits, and keeps its content', async () => {
    const original = readFileSync(snapshot.path);
    let file = snapshot.path;
    for (const permits of [['rollback'], ['shrink'], ['rollback', 'shrink'], []] satisfies Permit[][]) {
      const { path, manifest } = await publish({ file, name: `${permits.length}.sqlite`, permits });
      expect(manifest.permits).to.deep.equal(permits);
      expect(readSnapshot(path).organizations.map(({ lists }) => lists)).to.deep.equal(
        snapshot.image.organizations.map(({ lists }) => lists),
      );
      // The permits of the source are dropped.
      file = folder('again.sqlite');
      execFileSync('mv', [path, file]);
    }
    expect(readFileSync(snapshot.path).equals(original)).to.equal(true);
  });

  describe('fails and leaves the folder unchanged when', () => {
    it('the file is not a snapshot', async () => {
      writeFileSync(folder('a.sqlite'), 'no');
      await publish();
      expect(await refused({ file: folder('a.sqlite') })).to.equal('not-sqlite');
      expect(await refused({ file: folder('nowhere.sqlite') })).to.match(/ENOENT: no such file/);
    });

    it('a byte of the content has changed, or half of the file changes during the copy', async () => {
      await publish();
      const changed = snapshot.copyOf((bytes) => {
        bytes[bytes.lastIndexOf('issuedAt') + 12] ^= 1;
        return bytes;
      });
      expect(await refused({ file: changed })).to.equal('damaged');
      const file = snapshot.copy();
      const onCopy = () => {
        const bytes = readFileSync(file);
        writeFileSync(file, bytes.fill(0, bytes.length / 2));
      };
      expect(await refused({ file, onCopy })).to.equal('damaged');
    });

    it('a conflicting snapshot is published during the copy', async () => {
      const onCopy = () => {
        copyFileSync(snapshot.path, served('b.sqlite'));
      };
      const error = await refusalOf(publish({ onCopy }), NotPublished);
      expect(error.message).to.match(/organization "north" is already published in b\.sqlite/);
      expect(readdirSync(served())).to.deep.equal(['b.sqlite']);
    });

    it('a folder has the name', async () => {
      mkdirSync(served('a.sqlite'));
      expect(await refused()).to.match(/a\.sqlite: is a folder; a snapshot cannot replace it$/);
    });

    it('the file is the published one itself', async () => {
      await publish();
      linkSync(served('a.sqlite'), folder('hard.sqlite'));
      symlinkSync(served('a.sqlite'), folder('soft.sqlite'));
      for (const file of [served('a.sqlite'), folder('hard.sqlite'), folder('soft.sqlite')]) {
        expect(await refused({ file })).to.equal(
          `${file}: is already the published file; publish the file that it was copied from`,
        );
      }
    });

    it('the disk is full', async function () {
      const disk = folder('disk');
      mkdirSync(disk);
      const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
      if (status !== 0) this.skip();
      try {
        await publish({ folder: disk });
        const before = contentOf(disk);
        const wide = { ...SMALL_IMPORT.orders[0], orderId: 'wide', paymentMethod: 'x'.repeat(900_000) };
        const orders = [0, 1, 2].map((i) => ({ ...wide, orderId: `wide ${i}` }));
        const file = await built('large', { ...SMALL_IMPORT, orders: [...SMALL_IMPORT.orders, ...orders] });
        const { message } = await refusalOf(publish({ file, folder: disk }), NotPublished);
        expect(message).to.match(/large\.sqlite: ENOSPC: no space left on device/);
        expect(contentOf(disk)).to.deep.equal(before);
      } finally {
        spawnSync('umount', [disk]);
      }
    });

    for (const [moment, abortAt] of [
      ['before its start', 'start'],
      ['during the copy', 'onCopy'],
      ['during the verification', 'onProgress'],
    ] as const) {
      it(`it is aborted ${moment}`, async () => {
        await publish();
        const before = contentOf(served());
        const controller = new AbortController();
        const reason = new RangeError('enough');
        const abort = () => {
          controller.abort(reason);
        };
        if (abortAt === 'start') abort();
        const { signal } = controller;
        const publishing = publish({ signal, permits: ['shrink'], [abortAt]: abort });
        expect(await refusalOf(publishing, RangeError)).to.equal(reason);
        expect(contentOf(served())).to.deep.equal(before);
      });
    }
  });

  it('publishes the copied content when the file is replaced during the copy', async () => {
    const file = snapshot.copy();
    const other = await built('other', { ...SMALL_IMPORT, tickets: [] });
    const onCopy = () => {
      copyFileSync(other, file);
    };
    const { manifest } = await publish({ file, onCopy });
    expect(manifest.snapshotId).to.equal(readSnapshot(other).snapshotId);
    expect(readSnapshot(served('a.sqlite'))).to.deep.equal(readSnapshot(other));
  });

  describe('applies the checks of the replica:', () => {
    it('refuses an organization that another file holds', async () => {
      await publish({ name: 'b.sqlite' });
      expect(await refused({ permits: ['rollback', 'shrink'] })).to.equal('conflict');
    });

    it('refuses an older snapshot without the permit to roll back', async () => {
      await publish();
      const file = await built('older', SMALL_IMPORT, new Date('2025-11-21T12:00:00Z'));
      expect(await refused({ file, permits: ['shrink'] })).to.equal('older');
      const { manifest } = await publish({ file, permits: ['rollback'] });
      expect(readSnapshot(served('a.sqlite')).snapshotId).to.equal(manifest.snapshotId);
    });

    it('refuses a production time more than 5 minutes ahead of the clock, unless that is permitted', async () => {
      const minutesAhead = (minutes: number) => new Date(Date.now() + minutes * 60_000);
      await publish({ file: await built('near', SMALL_IMPORT, minutesAhead(4)) });
      const file = await built('future', SMALL_IMPORT, minutesAhead(6));
      expect(await refused({ file, permits: ['rollback'] })).to.match(
        /future\.sqlite: its production time, .*, is more than 5 minutes ahead of the clock, .* --allow-future$/,
      );
      await publish({ file, allowFuture: true });
    });

    it('ignores unreadable files, under its own name or another', async () => {
      writeFileSync(served('a.sqlite'), 'broken');
      writeFileSync(served('b.sqlite'), 'broken');
      await publish();
      expect(readSnapshot(served('a.sqlite'))).to.deep.equal(snapshot.image);
    });
  });

  it('removes abandoned copies, and keeps recent ones of a running process, another machine or another name', async () => {
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const [here, elsewhere] = [hostname(), 'else-where'];
    let copies = 0;
    const leave = (name: string, host: string, pid: number, ageMs: number) => {
      const copy = `.${name}.publishing-${host}-${pid}-0badcaf${copies++}`;
      writeFileSync(served(copy), 'a part');
      const time = new Date(Date.now() - ageMs);
      utimesSync(served(copy), time, time);
      return copy;
    };
    leave('a.sqlite', here, ended, 0);
    for (const host of [here, elsewhere]) leave('a.sqlite', host, process.pid, 2 * 3_600_000);
    const kept = [
      leave('a.sqlite', here, process.pid, 60_000),
      leave('a.sqlite', elsewhere, ended, 60_000),
      leave('b.sqlite', here, ended, 60_000),
    ];
    await publish();
    expect(readdirSync(served())).to.have.members([...kept, 'a.sqlite']);
  });
});

describe('The published name', () => {
  it('is the requested one, with or without .sqlite, or that of the file', () => {
    expect(publishedName('x/north.sqlite')).to.equal('north.sqlite');
    expect(publishedName('x/export.db', 'north')).to.equal('north.sqlite');
    expect(publishedName('x/export.db', 'north.sqlite')).to.equal('north.sqlite');
    expect(publishedName('x/export.db', 'Nördliche Bühne 2.0')).to.equal('Nördliche Bühne 2.0.sqlite');
  });

  it('must be requested when that of the file is not suitable', () => {
    for (const file of ['export.db', 'x/.sqlite', '.hidden.sqlite']) {
      expect(thrownBy(() => publishedName(file), NotPublished).message).to.equal(
        `${file}: its name is not a valid snapshot name; specify one with --as, such as --as north`,
      );
    }
  });

  it('is a visible file name without a folder', () => {
    for (const name of ['', '.', '..', '.hidden', '../a', 'a/b', '/a', 'a\n', '\0', 'a\u0085b', '.sqlite']) {
      expect(thrownBy(() => publishedName('a.sqlite', name), NotPublished).message).to.match(
        /is not a valid snapshot name: it must be a file name, without a folder or a leading dot$/,
      );
    }
  });
});

/** Returns the files of a folder with their content. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { withFileTypes: true });
  return Object.fromEntries(
    names.map((entry) => [
      entry.name,
      entry.isFile() ? readFileSync(join(folder, entry.name), 'base64') : 'a folder',
    ]),
  );
}

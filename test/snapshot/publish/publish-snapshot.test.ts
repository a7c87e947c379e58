import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import type { Permit } from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { changesOf, inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import {
  NotPublished,
  publishedName,
  type PublishOptions,
  publishSnapshot,
} from '../../../src/snapshot/publish/publish-snapshot.ts';
import { replaceInRecords } from '../../support/alter-records.ts';
import { restamp } from '../../support/digests.ts';
import { folderForEach } from '../../support/temporary-folder.ts';
import { buildFile, builtFrom, digestsOf, PRODUCED_AT } from '../../support/import-folder.ts';
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
    publishSnapshot({ file: snapshot.path, path: served('a.sqlite'), permits: [], ...options });

  /** Expects a refusal that leaves the folder unchanged. Returns its reason, or its message. */
  async function refused(options: Partial<PublishOptions>): Promise<string> {
    const before = contentOf(served());
    const error = await refusalOf(publish(options), NotPublished);
    expect(contentOf(served())).to.deep.equal(before);
    return error.cause instanceof RefusedSnapshot ? error.cause.reason : error.message;
  }

  it('creates one file of the same content, and replaces it by a rename, so that its readers keep it', async () => {
    const path = served('a.sqlite');
    const { manifest } = await publish();
    expect(manifest).to.include({ snapshotId: snapshot.image.snapshotId });
    expect(Object.keys(contentOf(served()))).to.deep.equal(['a.sqlite']);
    expect(digestsOf(readSnapshot(path))).to.deep.equal(digestsOf(snapshot.image));
    const reader = statSync(path).ino;
    await publish();
    expect(statSync(path).ino).to.not.equal(reader);
  });

  it('parses the tickets and orders, and checks the sums of digests, as a load does not', async () => {
    const malformed = snapshot.altered('tickets', replaceInRecords(',"currency":', ',"currencies":'));
    const summed = snapshot.copyWith("UPDATE lists SET records_sum = printf('%064x', record_count)");
    restamp(summed);
    for (const file of [malformed, summed]) {
      expect(readSnapshot(file).organizations).to.have.length(2);
      expect(await refused({ file })).to.equal('inconsistent');
    }
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

  it('gives the copy the requested permits in place of those of the file, and keeps its content', async () => {
    const file = snapshot.copy();
    for (const permits of [['rollback', 'shrink'], ['shrink'], []] satisfies Permit[][]) {
      const { manifest } = await publish({ file, permits });
      expect(manifest.permits).to.deep.equal(permits);
      const { organizations } = readSnapshot(served('a.sqlite'));
      const expected = snapshot.image.organizations.map(({ lists }) => lists);
      expect(organizations.map(({ lists }) => lists)).to.deep.equal(expected);
      copyFileSync(served('a.sqlite'), file);
    }
  });

  it('goes back to earlier changes of the published whole file, by the links that a feed keeps', async () => {
    const path = served('a.sqlite');
    await publish();
    const feed = (n: number) => {
      const tickets = [{ ...SMALL_IMPORT.tickets[0], status: `STATUS ${n}` }];
      const producedAt = new Date(PRODUCED_AT.getTime() + n);
      return buildFile({ tickets }, path, { base: path, producedAt, permits: [] });
    };
    const { snapshotId } = await feed(1);
    linkSync(changesOf(path), folder('kept.changes'));
    linkSync(path, folder('kept.sqlite'));
    await feed(2);
    await publish({ file: folder('kept.sqlite'), permits: ['rollback'] });
    expect(existsSync(changesOf(path))).to.equal(false);
    expect(readSnapshot(path, { isThorough: true }).snapshotId).to.equal(snapshotId);
  });

  describe('fails and leaves the folder unchanged when', () => {
    beforeEach(() => publish());

    it('half of the file changes during the copy', async () => {
      const file = snapshot.copy();
      const onCopy = () => {
        const bytes = readFileSync(file);
        writeFileSync(file, bytes.fill(0, bytes.length / 2));
      };
      expect(await refused({ file, onCopy })).to.equal('damaged');
    });

    it('a folder has the name', async () => {
      mkdirSync(served('b.sqlite'));
      const isFolder = /b\.sqlite: is a folder; a snapshot cannot replace it$/;
      expect(await refused({ path: served('b.sqlite') })).to.match(isFolder);
    });

    it('the file is the published one itself', async () => {
      linkSync(served('a.sqlite'), folder('hard.sqlite'));
      symlinkSync(served('a.sqlite'), folder('soft.sqlite'));
      for (const file of [served('a.sqlite'), folder('hard.sqlite'), folder('soft.sqlite')]) {
        expect(await refused({ file })).to.equal(
          `${file}: is already the published file; publish the file that it was copied from`,
        );
      }
    });

    it('another file holds one of its organizations, whatever the permits', async () => {
      const permits = ['rollback', 'shrink'] as const;
      expect(await refused({ path: served('b.sqlite'), permits })).to.equal('conflict');
    });

    it('a conflicting snapshot is published during the copy', async () => {
      rmSync(served('a.sqlite'));
      const onCopy = () => {
        copyFileSync(snapshot.path, served('b.sqlite'));
      };
      const error = await refusalOf(publish({ onCopy }), NotPublished);
      expect(error.message).to.match(/organization "north" is already published in b\.sqlite/);
      expect(Object.keys(contentOf(served()))).to.deep.equal(['b.sqlite']);
    });

    for (const [moment, abortAt] of [
      ['before its start', 'start'],
      ['during the copy', 'onCopy'],
      ['during the verification', 'onProgress'],
    ] as const) {
      it(`it is aborted ${moment}`, async () => {
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
    const { file: other } = await builtFrom(folder('other'), { ...SMALL_IMPORT, tickets: [] });
    const onCopy = () => {
      copyFileSync(other, file);
    };
    const { manifest } = await publish({ file, onCopy });
    expect(manifest.snapshotId).to.equal(inspectSnapshot(other).snapshotId);
    expect(digestsOf(readSnapshot(served('a.sqlite')))).to.deep.equal(digestsOf(readSnapshot(other)));
  });

  it('ignores unreadable files, under its own name or another', async () => {
    for (const name of ['a.sqlite', 'b.sqlite']) writeFileSync(served(name), 'broken');
    await publish();
    expect(digestsOf(readSnapshot(served('a.sqlite')))).to.deep.equal(digestsOf(snapshot.image));
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
    for (const host of [here, elsewhere]) leave('a.sqlite', host, process.pid, 25 * 3_600_000);
    const kept = [
      leave('a.sqlite', here, process.pid, 23 * 3_600_000),
      leave('a.sqlite', elsewhere, ended, 23 * 3_600_000),
      leave('b.sqlite', here, ended, 60_000),
    ];
    await publish();
    expect(readdirSync(served())).to.have.members([...kept, '.a.lock', 'a.sqlite']);
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
        `"${basename(file)}" is not a valid snapshot name: specify a file name without a folder or a leading dot, such as --as north`,
      );
    }
  });

  it('is a visible file name without a folder', () => {
    for (const name of ['', '.', '..', '.hidden', '../a', 'a/b', '/a', 'a\n', '\0', 'a\u0085b', '.sqlite']) {
      expect(thrownBy(() => publishedName('a.sqlite', name), NotPublished).message).to.match(
        /is not a valid snapshot name: specify a file name without a folder or a leading dot/,
      );
    }
  });
});

/** Returns the files of a folder with their content. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.endsWith('.lock'));
  return Object.fromEntries(
    names.map((entry) => [
      entry.name,
      entry.isFile() ? readFileSync(join(folder, entry.name), 'base64') : 'a folder',
    ]),
  );
}

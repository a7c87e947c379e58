import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { pino } from 'pino';
import { RefusedSnapshot } from '../../src/snapshot/refused-snapshot.ts';
import { SnapshotWatcher } from '../../src/snapshot/snapshot-watcher.ts';
import { StoreRegistry } from '../../src/store/store-registry.ts';
import { emptyImage } from '../store/empty-image.ts';
import { folderForEach } from '../temporary-folder.ts';

describe('the watch on the snapshot folder', () => {
  const inFolder = folderForEach();
  /** The organizations that each file holds; none for a file that is bad. */
  const contents = new Map<string, readonly string[]>();
  let stores: StoreRegistry;
  let watcher: SnapshotWatcher;
  let loads: string[];

  beforeEach(() => {
    stores = new StoreRegistry();
    loads = [];
    const load = (path: string) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      loads.push(name);
      const organizations = contents.get(name);
      if (organizations === undefined) return Promise.reject(new RefusedSnapshot('damaged', 'it is bad'));
      return Promise.resolve({
        snapshotId: name,
        producedAt: '',
        organizations: organizations.map((id) => emptyImage(id)),
      });
    };
    watcher = new SnapshotWatcher(inFolder(''), stores, load, pino({ level: 'silent' }));
    contents.clear();
  });

  /** Writes beside and renames, as a snapshot is published. */
  function publish(name: string, organizations?: readonly string[]): void {
    if (organizations === undefined) contents.delete(name);
    else contents.set(name, organizations);
    writeFileSync(inFolder('beside'), name);
    renameSync(inFolder('beside'), inFolder(name));
  }
  const fileOf = (organizationId: string) => stores.get(organizationId)?.snapshotId;

  it('loads each file once, and again when it was replaced', async () => {
    publish('a.sqlite', ['one']);
    await watcher.poll();
    await watcher.poll();
    expect(loads).to.deep.equal(['a.sqlite']);
    publish('a.sqlite', ['one', 'two']);
    await watcher.poll();
    expect(loads).to.deep.equal(['a.sqlite', 'a.sqlite']);
    expect(fileOf('two')).to.equal('a.sqlite');
  });

  it('looks once at a time', async () => {
    publish('a.sqlite', ['one']);
    await Promise.all([watcher.poll(), watcher.poll(), watcher.poll()]);
    expect(loads).to.deep.equal(['a.sqlite']);
  });

  it('leaves files of other names alone', async () => {
    for (const name of ['a.sqlite.building', '.a.sqlite', 'a.sqlite-journal', 'a.db']) publish(name, ['one']);
    await watcher.poll();
    expect(loads).to.deep.equal([]);
  });

  it('waits for a folder that is not there yet', async () => {
    rmSync(inFolder(''), { recursive: true });
    await watcher.poll();
    mkdirSync(inFolder(''));
    publish('a.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
  });

  it('does not try a refused file again until it changes, or a journal beside it does', async () => {
    publish('a.sqlite');
    publish('a.sqlite-journal');
    await watcher.poll();
    await watcher.poll();
    expect(loads).to.have.lengthOf(1);
    rmSync(inFolder('a.sqlite-journal'));
    await watcher.poll();
    expect(loads).to.have.lengthOf(2);
    publish('a.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
  });

  it('takes what was refused for the sake of another file once that gives it up', async () => {
    publish('a.sqlite', ['one', 'two']);
    publish('b.sqlite', ['two']);
    await watcher.poll();
    expect(fileOf('two')).to.equal('a.sqlite');
    publish('a.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('two')).to.equal('b.sqlite');
  });

  it('goes on serving what a file held that is gone, and lets another take it over', async () => {
    publish('a.sqlite', ['one']);
    publish('b.sqlite', ['one']);
    await watcher.poll();
    rmSync(inFolder('b.sqlite'));
    await watcher.poll();
    rmSync(inFolder('a.sqlite'));
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
    publish('b.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('one')).to.equal('b.sqlite');
  });

  it('is not stopped by an entry that cannot be looked at', async () => {
    symlinkSync('loop.sqlite', inFolder('loop.sqlite'));
    publish('z.sqlite', ['one']);
    await watcher.poll();
    await watcher.poll();
    expect(loads).to.deep.equal(['loop.sqlite', 'z.sqlite']);
    expect(fileOf('one')).to.equal('z.sqlite');
  });
});

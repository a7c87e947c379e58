import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { RefusedSnapshot, TRANSIENT_REASONS } from '../../../src/snapshot/format/refused-snapshot.ts';
import { LoadHistory } from '../../../src/snapshot/watch/load-history.ts';
import { SnapshotWatcher } from '../../../src/snapshot/watch/snapshot-watcher.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { declaration, emptySnapshot, manifest } from '../../support/empty-image.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

describe('The snapshot watcher', () => {
  const inFolder = folderForEach();
  /** The organizations of each file; a file without an entry is invalid. */
  const contents = new Map<string, readonly string[]>();
  let stores: StoreRegistry;
  let history: LoadHistory;
  let watcher: SnapshotWatcher;
  let loads: string[];
  /** Called when a file is loaded. */
  let onLoad: (file: string) => void;
  let logged: Record<string, unknown>[];
  /** Seconds of the clock. */
  let now: number;
  let hasUnendedLoads: boolean;
  let producedAt: string;

  beforeEach(() => {
    now = 0;
    hasUnendedLoads = false;
    producedAt = '';
    stores = new StoreRegistry();
    history = new LoadHistory();
    loads = [];
    logged = [];
    onLoad = () => undefined;
    mkdirSync(inFolder('snapshots'));
    // Complete files are renamed into place, so they need not settle.
    watcher = newWatcher({ settleMs: 10 });
    contents.clear();
  });

  function newWatcher(settling: { settleMs?: number }): SnapshotWatcher {
    const write = (line: string) => logged.push(JSON.parse(line) as Record<string, unknown>);
    return new SnapshotWatcher({
      folder: inFolder('snapshots'),
      stores,
      history,
      load: (path, admit) => {
        const name = path.slice(path.lastIndexOf('/') + 1);
        loads.push(name);
        onLoad(name);
        const organizations = contents.get(name);
        if (organizations === undefined)
          return Promise.reject(new RefusedSnapshot('damaged', 'it is damaged'));
        const declared = organizations.map((organizationId) => declaration(organizationId));
        admit(manifest(name, { organizations: declared }));
        const image = emptySnapshot(`${name} ${loads.length}`, ...organizations);
        return Promise.resolve({ ...image, producedAt });
      },
      admit: (file, { organizations }) => {
        const owner = organizations.map(({ organizationId }) => stores.otherOwner(file, organizationId));
        if (owner.some((other) => other !== undefined))
          throw new RefusedSnapshot('conflict', 'held by another');
      },
      goLive: (file, image) => {
        stores.swap(file, image);
        return Promise.resolve();
      },
      hasUnendedLoads: () => hasUnendedLoads,
      log: pino({}, { write }),
      clock: () => now * 1000,
      ...settling,
    });
  }

  afterEach(() => {
    watcher.stop();
  });

  /** Writes a file elsewhere and renames it into the folder, like a published snapshot. */
  function publish(name: string, organizations?: readonly string[]): void {
    if (organizations === undefined) contents.delete(name);
    else contents.set(name, organizations);
    writeFileSync(inFolder('beside'), name);
    renameSync(inFolder('beside'), inSnapshots(name));
  }
  const inSnapshots = (name: string) => join(inFolder('snapshots'), name);
  const refusals = () => history.refused.map(({ file, reason }) => `${file}: ${reason}`);
  const fileOf = (organizationId: string) => stores.view.live.get(organizationId)?.snapshotId.split(' ')[0];

  it('loads each file once, also when polls coincide, and again after a change', async () => {
    publish('a.sqlite', ['one']);
    await Promise.all([watcher.poll(), watcher.poll(), watcher.poll()]);
    await watcher.poll();
    expect(loads).to.deep.equal(['a.sqlite']);
    publish('a.sqlite', ['one', 'two']);
    await watcher.poll();
    expect(loads).to.deep.equal(['a.sqlite', 'a.sqlite']);
    expect(fileOf('two')).to.equal('a.sqlite');
  });

  it('ignores files with other names', async () => {
    for (const name of ['a.sqlite.building', '.a.sqlite', 'a.sqlite-journal', 'a.db']) publish(name, ['one']);
    await watcher.poll();
    expect(loads).to.deep.equal([]);
  });

  it('does not retry a refused file until it or a journal beside it changes', async () => {
    publish('a.sqlite');
    publish('a.sqlite-journal');
    await watcher.poll();
    await watcher.poll();
    expect(loads).to.have.lengthOf(1);
    rmSync(inSnapshots('a.sqlite-journal'));
    await watcher.poll();
    expect(loads).to.have.lengthOf(2);
    publish('a.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
  });

  it('warns of a snapshot that is ahead of the clock, and makes it live', async () => {
    producedAt = '9999-01-01T00:00:00.000Z';
    publish('a.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
    expect(logged.map(({ level, msg, file }) => [level, msg, file])).to.deep.equal([
      [30, 'snapshot live', 'a.sqlite'],
      [40, 'snapshot ahead of the clock', 'a.sqlite'],
    ]);
    expect(logged[1]['warning']).to.include(producedAt);
  });

  describe('tries a file again after a failure that may pass:', () => {
    let failure: RefusedSnapshot | undefined;

    beforeEach(async () => {
      failure = new RefusedSnapshot('loader-failed', 'EMFILE');
      onLoad = () => {
        if (failure !== undefined) throw failure;
      };
      publish('a.sqlite', ['one']);
      await watcher.poll();
    });

    /** Polls at a time. Returns the number of loads until then. */
    async function loadsAt(seconds: number): Promise<number> {
      now = seconds;
      await watcher.poll();
      return loads.length;
    }

    it('after 5 seconds, and twice as many each time, up to 5 minutes', async () => {
      const times: number[] = [];
      for (let seconds = 0; seconds < 1300; seconds++)
        if ((await loadsAt(seconds)) > times.length + 1) times.push(seconds);
      expect(times).to.deep.equal([5, 15, 35, 75, 155, 315, 615, 915, 1215]);
    });

    it('until it goes live', async () => {
      failure = undefined;
      expect(await loadsAt(4)).to.equal(1);
      expect(await loadsAt(5)).to.equal(2);
      expect(fileOf('one')).to.equal('a.sqlite');
      expect(history.refused).to.deep.equal([]);
      expect(await loadsAt(9999)).to.equal(2);
    });

    it('until it is refused for another reason', async () => {
      failure = new RefusedSnapshot('damaged', 'damaged');
      expect(await loadsAt(5)).to.equal(2);
      expect(history.refused[0].nextTryAt).to.equal(undefined);
      expect(await loadsAt(9999)).to.equal(2);
    });

    it('at once on request, and then from the first pause on', async () => {
      expect(await loadsAt(5)).to.equal(2);
      watcher.retry(TRANSIENT_REASONS);
      expect(await loadsAt(6)).to.equal(3);
      expect(await loadsAt(10)).to.equal(3);
      expect(await loadsAt(11)).to.equal(4);
    });

    it('from the first pause on when it changes', async () => {
      await loadsAt(5);
      publish('a.sqlite', ['one']);
      expect(await loadsAt(6)).to.equal(3);
      expect(await loadsAt(11)).to.equal(4);
    });

    it('not while the thread of a load that was given up still runs', async () => {
      hasUnendedLoads = true;
      expect(await loadsAt(9999)).to.equal(1);
      hasUnendedLoads = false;
      expect(await loadsAt(9999)).to.equal(2);
    });

    it('and states the time in the log and the history', () => {
      const { startedAt, nextTryAt = '' } = history.refused[0];
      expect(Date.parse(nextTryAt) - Date.parse(startedAt)).to.be.within(5000, 10_000);
      expect(logged[0]).to.include({ msg: 'snapshot refused', reason: 'loader-failed', nextTryAt });
    });
  });

  it('retries a conflicting file once the other file gives up the organization', async () => {
    publish('a.sqlite', ['one', 'two']);
    publish('b.sqlite', ['two']);
    await watcher.poll();
    expect(fileOf('two')).to.equal('a.sqlite');
    publish('a.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('two')).to.equal('b.sqlite');
  });

  it('keeps the organizations of a removed file live, and lets another file take them over', async () => {
    publish('a.sqlite', ['one']);
    publish('b.sqlite', ['one']);
    await watcher.poll();
    rmSync(inSnapshots('b.sqlite'));
    await watcher.poll();
    rmSync(inSnapshots('a.sqlite'));
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
    publish('b.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('one')).to.equal('b.sqlite');
  });

  it('follows links within the folder, and refuses all others', async () => {
    mkdirSync(inSnapshots('..data'));
    contents.set('z.sqlite', ['one']);
    writeFileSync(inSnapshots('..data/z.sqlite'), '');
    writeFileSync(inFolder('outside.sqlite'), '');
    for (const [link, target] of [
      ['loop.sqlite', 'loop.sqlite'],
      ['missing.sqlite', 'nothing'],
      ['out.sqlite', '../outside.sqlite'],
      ['z.sqlite', '..data/z.sqlite'],
    ])
      symlinkSync(target, inSnapshots(link));
    await watcher.poll();
    await watcher.poll();
    expect(loads).to.deep.equal(['z.sqlite']);
    const unreadable = ['loop.sqlite: unreadable', 'missing.sqlite: unreadable'];
    expect(refusals()).to.deep.equal([...unreadable, 'out.sqlite: outside-folder']);
  });

  it('waits until a file has settled', async () => {
    watcher = newWatcher({});
    // The file changes before it settles, three times.
    contents.set('a.sqlite', ['one']);
    publish('z.sqlite', ['two']);
    utimesSync(inSnapshots('z.sqlite'), 0, 0);
    let writes = 0;
    onLoad = () => {
      expect(writes).to.equal(3);
    };
    const writing = setInterval(() => {
      writeFileSync(inSnapshots('a.sqlite'), 'x'.repeat(++writes));
      if (writes === 3) clearInterval(writing);
    }, 50);
    writeFileSync(inSnapshots('a.sqlite'), '');
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
    expect(loads.filter((name) => name === 'a.sqlite')).to.have.lengthOf(1);
  });

  it('loads only the newest of many files in quick succession', async () => {
    watcher = newWatcher({});
    publish('a.sqlite', ['none']);
    let left = 100;
    const storm = setInterval(() => {
      publish('a.sqlite', left === 1 ? ['newest'] : ['none']);
      if (--left === 0) clearInterval(storm);
    }, 5);
    await watcher.poll();
    expect(left).to.equal(0);
    expect(loads).to.deep.equal(['a.sqlite']);
    expect(fileOf('newest')).to.equal('a.sqlite');
  });

  it('polls at once when the system reports a change, also in a folder that replaced another', async () => {
    await watcher.poll();
    rmSync(inFolder('snapshots'), { recursive: true });
    mkdirSync(inFolder('snapshots'));
    await watcher.poll();
    const loaded = Promise.withResolvers<string>();
    onLoad = loaded.resolve;
    publish('a.sqlite', ['one']);
    expect(await loaded.promise).to.equal('a.sqlite');
  });

  it('records each load with its outcome, and forgets the refusals of removed files', async () => {
    publish('a.sqlite', ['one']);
    publish('b.sqlite');
    await watcher.poll();
    const latest = history.latest.map(({ file, outcome }) => `${file}: ${outcome}`);
    expect(latest).to.deep.equal(['b.sqlite: refused', 'a.sqlite: live']);
    expect(history.refused[0]).to.include({ file: 'b.sqlite', reason: 'damaged', detail: 'it is damaged' });
    publish('c.sqlite', ['one']);
    await watcher.poll();
    expect(refusals()).to.deep.equal(['b.sqlite: damaged', 'c.sqlite: conflict']);
    for (const file of ['a.sqlite', 'b.sqlite', 'c.sqlite']) rmSync(inSnapshots(file));
    await watcher.poll();
    expect(history.refused).to.deep.equal([]);
    expect(Object.fromEntries(history.refusals)).to.deep.equal({ damaged: 1, conflict: 1 });
    expect(history.liveCount).to.equal(1);
  });

  it('reports each load while it lasts, and treats any error as a refusal of that file alone', async () => {
    const loading: unknown[] = [];
    onLoad = (file) => {
      loading.push(history.loading?.file);
      if (file === 'a.sqlite') throw new Error('no thread available');
    };
    publish('a.sqlite', ['one']);
    publish('b.sqlite', ['two']);
    await watcher.poll();
    expect(history.refused[0]).to.include({ reason: 'loader-failed', detail: 'no thread available' });
    expect(fileOf('two')).to.equal('b.sqlite');
    expect([...loading, history.loading]).to.deep.equal(['a.sqlite', 'b.sqlite', undefined]);
  });

  it('logs each reason once why the folder cannot be read, and recovers', async () => {
    rmSync(inFolder('snapshots'), { recursive: true });
    await watcher.poll();
    expect(watcher.complaint).to.match(/ENOENT/);
    writeFileSync(inFolder('snapshots'), 'not a folder');
    await watcher.poll();
    await watcher.poll();
    const message = 'the snapshot folder cannot be read; retrying';
    expect(logged.map(({ msg }) => msg)).to.deep.equal([message, message]);
    expect(watcher.complaint).to.match(/ENOTDIR/);
    rmSync(inFolder('snapshots'));
    mkdirSync(inFolder('snapshots'));
    publish('a.sqlite', ['one']);
    await watcher.poll();
    expect(fileOf('one')).to.equal('a.sqlite');
    expect(watcher.complaint).to.equal(undefined);
  });

  it('makes nothing live after it is stopped', async () => {
    onLoad = () => {
      watcher.stop();
    };
    publish('a.sqlite', ['one']);
    publish('b.sqlite', ['two']);
    await watcher.poll();
    expect(stores.live.size).to.equal(0);
    expect(loads).to.have.lengthOf(1);
  });
});

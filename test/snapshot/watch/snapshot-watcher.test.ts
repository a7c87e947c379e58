import { once } from 'node:events';
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { Admission } from '../../../src/snapshot/admission/admit.ts';
import { RefusedSnapshot, TRANSIENT_REASONS } from '../../../src/snapshot/format/refused-snapshot.ts';
import { LoadHistory } from '../../../src/snapshot/watch/load-history.ts';
import { SnapshotWatcher } from '../../../src/snapshot/watch/snapshot-watcher.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { declaration, emptySnapshot, manifest } from '../../support/empty-image.ts';
import { eventually } from '../../support/eventually.ts';
import { FIXED } from '../../support/random.ts';
import { times } from '../../support/records.ts';
import { type ReadableLog, readableLog } from '../../support/readable-log.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

const SETTLE_MS = 50;
const HOUR_MS = 3_600_000;

/** The files hold the ids of their organizations; an empty one is damaged. */
describe('The snapshot watcher', () => {
  const inFolder = folderForEach();
  const inSnapshots = (name: string) => inFolder(`snapshots/${name}`);
  let stores: StoreRegistry;
  let history: LoadHistory;
  let watcher: SnapshotWatcher;
  let log: ReadableLog;
  let loads: string[];
  /** Called when a file is loaded. */
  let onLoad: (file: string, signal: AbortSignal) => unknown;
  /** Seconds of the clock. */
  let now: number;
  let hasUnendedLoads: boolean;
  let producedAtOf: (file: string) => string;

  beforeEach(() => {
    [now, hasUnendedLoads] = [0, false];
    producedAtOf = () => '2026-11-21T04:00:00Z';
    onLoad = () => undefined;
    mkdirSync(inFolder('snapshots'));
    start();
  });

  function start(settleMs = SETTLE_MS): void {
    stores = new StoreRegistry();
    history = new LoadHistory();
    log = readableLog();
    loads = [];
    watcher = new SnapshotWatcher({
      folder: inFolder('snapshots'),
      stores,
      history,
      load: async (file, path, signal) => {
        loads.push(basename(path));
        await onLoad(file, signal);
        const ids = readFileSync(path, 'utf8').match(/\w+/g);
        if (ids === null) throw new RefusedSnapshot('damaged', 'it is damaged');
        const organizations = ids.map((id) => declaration(id));
        new Admission(stores, { bytes: Infinity, source: 'machine' }, 1).admit(
          file,
          manifest(file, { producedAt: producedAtOf(file), permits: ['shrink'], organizations }),
          !watcher.hasTriedAll,
        );
        return Promise.resolve({ ...emptySnapshot(file, ...ids), producedAt: producedAtOf(file) });
      },
      goLive: (file, image) => {
        stores.swap(file, image);
        return Promise.resolve();
      },
      hasUnendedLoads: () => hasUnendedLoads,
      log: log.log,
      clock: () => now * 1000,
      settleMs,
    });
  }

  afterEach(() => {
    watcher.stop();
  });

  /** Renames files into the folder, like published snapshots, some time after they were written. */
  function publish(contents: Readonly<Record<string, string>>, agoMs = HOUR_MS): void {
    for (const [name, content] of Object.entries(contents)) {
      writeFileSync(inFolder('draft'), content);
      const writtenAt = (Date.now() - agoMs) / 1000;
      utimesSync(inFolder('draft'), writtenAt, writtenAt);
      renameSync(inFolder('draft'), inSnapshots(name));
    }
  }

  /** Publishes files, and waits until all have been loaded or refused. */
  async function load(contents: Readonly<Record<string, string>>): Promise<void> {
    publish(contents);
    await watcher.poll();
  }

  async function remove(...names: readonly string[]): Promise<void> {
    for (const name of names) rmSync(inSnapshots(name));
    await watcher.poll();
  }

  const refusals = () => history.refused.map(({ file, reason }) => `${file}: ${reason}`);
  const fileOf = (organizationId: string) => stores.live.get(organizationId)?.file;

  it('loads a file again when its changes come, are replaced, or are gone', async () => {
    await load({ 'a.sqlite': 'one' });
    await load({ 'a.changes': 'first' });
    await load({ 'a.changes': 'second', '.a.lock': '' });
    expect(loads).to.have.length(3);
    await remove('a.changes');
    await load({ 'b.changes': 'of no file' });
    expect(loads).to.deep.equal(times(4, () => 'a.sqlite'));
  });

  it('loads each file once, also when polls coincide, and again after a change', async () => {
    publish({ 'a.sqlite': 'one' });
    await Promise.all([watcher.poll(), watcher.poll(), watcher.poll()]);
    await watcher.poll();
    expect(loads).to.deep.equal(['a.sqlite']);
    await load({ 'a.sqlite': 'one two' });
    expect(loads).to.deep.equal(['a.sqlite', 'a.sqlite']);
    expect(fileOf('two')).to.equal('a.sqlite');
  });

  describe('has tried all files', () => {
    it('after the last one that was there at the start, refused or not', async () => {
      const hadTried: boolean[] = [];
      onLoad = () => hadTried.push(watcher.hasTriedAll);
      publish({ 'a.sqlite': 'one', 'b.sqlite': '' });
      await load({ 'c.sqlite': 'three' });
      expect(watcher.hasTriedAll).to.equal(true);
      await load({ 'a.sqlite': 'two' });
      expect(hadTried).to.deep.equal([false, false, false, true]);
    });

    it('without a file that changes on and on', async () => {
      publish({ 'a.sqlite': 'one', 'b.sqlite': 'two' });
      const changing = setInterval(() => {
        writeFileSync(inSnapshots('b.sqlite'), String(performance.now()));
      }, SETTLE_MS / 5);
      const polling = watcher.poll();
      await eventually(() => watcher.hasTriedAll);
      clearInterval(changing);
      expect(loads[0]).to.equal('a.sqlite');
      await polling;
    });

    it('in an empty folder, but not in one that cannot be read', async () => {
      rmSync(inFolder('snapshots'), { recursive: true });
      await watcher.poll();
      expect(watcher.hasTriedAll).to.equal(false);
      mkdirSync(inFolder('snapshots'));
      await watcher.poll();
      expect(watcher.hasTriedAll).to.equal(true);
    });
  });

  it('ignores files with other names', async () => {
    await load({ 'a.sqlite.building': '', '.a.sqlite': '', 'a.sqlite-journal': '', 'a.db': '' });
    expect(loads).to.deep.equal([]);
  });

  it('does not retry a refused file until it or a journal beside it changes', async () => {
    await load({ 'a.sqlite': '', 'a.sqlite-journal': '' });
    await watcher.poll();
    expect(loads).to.have.lengthOf(1);
    await remove('a.sqlite-journal');
    expect(loads).to.have.lengthOf(2);
    await load({ 'a.sqlite': 'one' });
    expect(fileOf('one')).to.equal('a.sqlite');
  });

  it('warns of a snapshot that is more than 5 minutes ahead of the clock, and makes it live', async () => {
    for (const [file, minutes] of Object.entries({ 'a.sqlite': 4, 'b.sqlite': 6 })) {
      const producedAt = new Date(Date.now() + minutes * 60_000).toISOString();
      producedAtOf = () => producedAt;
      await load({ [file]: file[0] });
    }
    expect(log.lines.map(({ level, msg, file }) => [level, msg, file])).to.deep.equal([
      ['info', 'snapshot live', 'a.sqlite'],
      ['info', 'snapshot live', 'b.sqlite'],
      ['warn', 'snapshot ahead of the clock', 'b.sqlite'],
    ]);
    expect(log.lines[2]['warning']).to.include(producedAtOf('b.sqlite'));
  });

  describe('tries a file again after a failure that may pass:', () => {
    let failure: RefusedSnapshot | undefined;

    beforeEach(async () => {
      failure = new RefusedSnapshot('loader-failed', 'EMFILE');
      onLoad = () => {
        if (failure !== undefined) throw failure;
      };
      await load({ 'a.sqlite': 'one' });
    });

    /** Polls each second, and acts before one of these polls. Returns the seconds of the loads after the first. */
    async function retriesUntil(seconds: number, actAt = 0, act: () => void = () => undefined) {
      const retries: number[] = [];
      for (; now < seconds; now++) {
        if (now === actAt) act();
        await watcher.poll();
        if (loads.length > retries.length + 1) retries.push(now);
      }
      return retries;
    }

    it('after 5 seconds, and twice as many each time, up to 5 minutes', async () => {
      expect(await retriesUntil(1300)).to.deep.equal([5, 15, 35, 75, 155, 315, 615, 915, 1215]);
    });

    it('until it goes live', async () => {
      failure = undefined;
      expect(await retriesUntil(400)).to.deep.equal([5]);
      expect(fileOf('one')).to.equal('a.sqlite');
      expect(history.refused).to.deep.equal([]);
    });

    it('until it is refused for another reason', async () => {
      failure = new RefusedSnapshot('damaged', 'damaged');
      expect(await retriesUntil(400)).to.deep.equal([5]);
      expect(history.refused[0].nextTryAt).to.equal(undefined);
    });

    it('and ends a slow try when another file is due', async () => {
      const begun = Promise.withResolvers<undefined>();
      onLoad = async (file, signal) => {
        if (file !== 'a.sqlite') return;
        begun.resolve(undefined);
        await once(signal, 'abort');
        signal.throwIfAborted();
      };
      now = 5;
      const polling = watcher.poll();
      await begun.promise;
      publish({ 'b.sqlite': 'two' });
      await polling;
      expect(fileOf('two')).to.equal('b.sqlite');
      expect(refusals()).to.deep.equal(['a.sqlite: timeout']);
    });

    for (const when of ['on request', 'when it changes']) {
      it(`at once ${when}, and then from the first pause on`, async () => {
        const act = () => {
          if (when === 'on request') watcher.retry(TRANSIENT_REASONS);
          else publish({ 'a.sqlite': 'one' });
        };
        expect(await retriesUntil(20, 6, act)).to.deep.equal([5, 6, 11]);
      });
    }

    it('not while the thread of a load that was given up still runs', async () => {
      hasUnendedLoads = true;
      const end = () => (hasUnendedLoads = false);
      expect(await retriesUntil(80, 70, end)).to.deep.equal([70]);
    });

    it('and states the time in the log and the history', () => {
      const { startedAt, nextTryAt = '' } = history.refused[0];
      expect(Date.parse(nextTryAt) - Date.parse(startedAt)).to.be.within(5000, 10_000);
      expect(log.lines[0]).to.include({ msg: 'snapshot refused', reason: 'loader-failed', nextTryAt });
    });
  });

  it('retries a conflicting file once the other file gives up the organization', async () => {
    await load({ 'a.sqlite': 'one two', 'b.sqlite': 'two' });
    expect(fileOf('two')).to.equal('a.sqlite');
    await load({ 'a.sqlite': 'one' });
    expect(fileOf('two')).to.equal('b.sqlite');
  });

  it('serves at a start each organization from the newest file that is in no conflict with a newer one', async () => {
    /** Files, newest first, each with its organizations. */
    const newestFirst = fc.array(fc.subarray(['north', 'south', 'east'], { minLength: 1 }), {
      minLength: 2,
      maxLength: 5,
    });
    const property = fc.asyncProperty(newestFirst, fc.gen(), async (held, random) => {
      watcher.stop();
      rmSync(inFolder('snapshots'), { recursive: true });
      mkdirSync(inFolder('snapshots'));
      start(1);
      // Files are loaded in the order of their names.
      const names = held.map((_, i) => `${random(fc.nat)} ${i}.sqlite`);
      producedAtOf = (file) => `2026-11-21T04:00:0${9 - names.indexOf(file)}Z`;
      await load(Object.fromEntries(held.map((ids, i) => [names[i], ids.join(' ')])));
      for (const id of new Set(held.flat())) {
        const isSound = (ids: readonly string[], i: number) =>
          ids.includes(id) && !held.slice(0, i).some((newer) => newer.some((one) => ids.includes(one)));
        const expected = held.findIndex(isSound);
        if (expected !== -1) expect(names.indexOf(fileOf(id) ?? ''), id).to.be.within(0, expected);
      }
    });
    await fc.assert(property, { ...FIXED, numRuns: 100 });
  });

  it('keeps the organizations of a removed file live, and lets another file take them over', async () => {
    await load({ 'a.sqlite': 'one', 'b.sqlite': 'one' });
    await remove('b.sqlite');
    await remove('a.sqlite');
    expect(fileOf('one')).to.equal('a.sqlite');
    expect(log.lines.at(-1)?.['msg']).to.equal(
      'snapshot file is gone; its organizations stay live until a restart',
    );
    await load({ 'b.sqlite': 'one' });
    expect(fileOf('one')).to.equal('b.sqlite');
  });

  it('follows links within the folder, and refuses all others', async () => {
    mkdirSync(inSnapshots('..data'));
    writeFileSync(inSnapshots('..data/z.sqlite'), 'one');
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

  describe('loads a file', () => {
    const advanceWallClock = () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * HOUR_MS });
    };

    afterEach(() => {
      mock.timers.reset();
    });

    it('once nothing was written to it for a time, whatever the wall clock shows after the start', async () => {
      await watcher.poll();
      advanceWallClock();
      const started = performance.now();
      publish({ 'z.sqlite': 'one' }, -HOUR_MS);
      let left = 100;
      const writing = setInterval(() => {
        writeFileSync(inSnapshots('a.sqlite'), left === 1 ? 'last' : '');
        if (--left === 0) clearInterval(writing);
      }, 5);
      onLoad = () => {
        expect(performance.now() - started).to.be.at.least(SETTLE_MS);
      };
      await watcher.poll();
      expect([...stores.live.keys()]).to.have.members(['one', 'last']);
      // A busy machine pauses between two of the 100 writes.
      expect(loads.length).to.be.below(10);
    });

    it('at once at the start if nothing was written to it for a time by the wall clock', async () => {
      start(HOUR_MS);
      writeFileSync(inSnapshots('a.sqlite'), 'one');
      advanceWallClock();
      await watcher.poll();
      expect(fileOf('one')).to.equal('a.sqlite');
    });

    for (const [when, prepare] of [
      ['at the start', () => Promise.resolve()],
      ['later', () => watcher.poll()],
    ] as const) {
      it(`at once if the rename came a time after the last write, ${when}`, async () => {
        start(HOUR_MS);
        await prepare();
        publish({ 'a.sqlite': 'one' }, HOUR_MS);
        await watcher.poll();
        expect(fileOf('one')).to.equal('a.sqlite');
      });

      it(`after the rest of the time if the rename came sooner, ${when}`, async () => {
        start(HOUR_MS);
        await prepare();
        const started = performance.now();
        publish({ 'a.sqlite': 'one' }, HOUR_MS - 200);
        const { ctimeMs, mtimeMs } = statSync(inSnapshots('a.sqlite'));
        await watcher.poll();
        expect(fileOf('one')).to.equal('a.sqlite');
        // Whole milliseconds of the time stamps count.
        expect(performance.now() - started).to.be.at.least(HOUR_MS - (ctimeMs - mtimeMs) - 2);
      });
    }
  });

  it('polls at once when the system reports a change, also in a folder that replaced another', async () => {
    await watcher.poll();
    rmSync(inFolder('snapshots'), { recursive: true });
    mkdirSync(inFolder('snapshots'));
    await watcher.poll();
    const loaded = Promise.withResolvers<string>();
    onLoad = loaded.resolve;
    publish({ 'a.sqlite': 'one' });
    expect(await loaded.promise).to.equal('a.sqlite');
  });

  it('records each load with its outcome, and forgets the refusals of removed files', async () => {
    const loading: unknown[] = [];
    onLoad = (file) => {
      loading.push(history.loading?.file);
      if (file === 'a.sqlite') throw new Error('no thread available');
    };
    await load({ 'a.sqlite': 'one', 'b.sqlite': '', 'c.sqlite': 'two', 'd.sqlite': 'two' });
    const latest = history.latest.map(({ file, outcome }) => `${file}: ${outcome}`);
    const refused = ['a.sqlite: loader-failed', 'b.sqlite: damaged', 'd.sqlite: conflict'];
    expect(latest).to.deep.equal([
      'd.sqlite: refused',
      'c.sqlite: live',
      'b.sqlite: refused',
      'a.sqlite: refused',
    ]);
    expect(loading).to.deep.equal(loads);
    expect(history.loading).to.equal(undefined);
    expect(refusals()).to.deep.equal(refused);
    expect(history.refused[0].detail).to.equal('no thread available');
    await remove(...loads);
    expect(history.refused).to.deep.equal([]);
    expect([...history.refusals.keys()]).to.deep.equal(['loader-failed', 'damaged', 'conflict']);
    expect(history.liveCount).to.equal(1);
  });

  it('logs each reason once why the folder cannot be read, and that it can be read again', async () => {
    rmSync(inFolder('snapshots'), { recursive: true });
    await watcher.poll();
    expect(watcher.complaint).to.match(/ENOENT/);
    writeFileSync(inFolder('snapshots'), 'not a folder');
    await watcher.poll();
    await watcher.poll();
    const message = 'the snapshot folder cannot be read; retrying';
    expect(log.lines.map(({ msg }) => msg)).to.deep.equal([message, message]);
    expect(watcher.complaint).to.match(/ENOTDIR/);
    rmSync(inFolder('snapshots'));
    mkdirSync(inFolder('snapshots'));
    await load({ 'a.sqlite': 'one' });
    expect(fileOf('one')).to.equal('a.sqlite');
    await watcher.poll();
    expect(log.lines.slice(2).map(({ level, msg }) => [level, msg])).to.deep.equal([
      ['info', 'the snapshot folder can be read again'],
      ['info', 'snapshot live'],
    ]);
    expect(watcher.complaint).to.equal(undefined);
  });

  it('makes nothing live after it is stopped', async () => {
    onLoad = () => {
      watcher.stop();
    };
    await load({ 'a.sqlite': 'one', 'b.sqlite': 'two' });
    expect(stores.live.size).to.equal(0);
    expect(loads).to.have.lengthOf(1);
  });
});

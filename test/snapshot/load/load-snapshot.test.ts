import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../../../src/snapshot/format/layout.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { hasLoaderThreads, loadSnapshot, prepareLoad } from '../../../src/snapshot/load/load-snapshot.ts';
import { type OnProgress } from '../../../src/snapshot/load/read-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import type { KnownList } from '../../../src/store/registry/store-view.ts';
import {
  byList,
  memoryOf,
  sharedRecordsOf,
  type SnapshotImage,
} from '../../../src/store/organization-image.ts';
import { recordAt } from '../../../src/store/records.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { recordsIn, times } from '../../support/records.ts';
import { buildFile, PRODUCED_AT } from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('The loader', () => {
  const inFolder = folderForAll();
  const sound = new SoundSnapshot();

  /** Returns the content of an image, wherever its records and arrays are. */
  const readable = ({ organizations, ...snapshot }: SnapshotImage) => ({
    ...snapshot,
    organizations: organizations.map((image) => ({
      ...image,
      lists: byList((name) => ({
        ...image.lists[name],
        bytesHeld: 0,
        collections: Object.entries(image.lists[name].collections).map(([, { records, ...collection }]) => ({
          ...collection,
          records: times(collection.count, (row) => recordAt(records, row).toString()),
        })),
      })),
      history: { ...image.history, digest: '', bytesHeld: 0 },
      earlier: [],
    })),
  });

  it('loads thousands of organizations', async () => {
    const ids = times(2000, (i) => `org-${String(i).padStart(4, '0')}`);
    const organizations = ids.map((organizationId) => ({ organizationId, name: '' }));
    const events = ids.map((id) => recordsIn(id).event('evt'));
    const sessions = ids.map((id) => recordsIn(id).session('ses', 'evt'));
    const path = inFolder('many.sqlite');
    await buildFile({ organizations, events, sessions }, path);
    const loaded = await loadSnapshot(path);
    expect(loaded.organizations.map(({ organizationId }) => organizationId)).to.deep.equal(ids);
    for (const { lists } of loaded.organizations) {
      const { bytesHeld, collections, schedule } = lists.events;
      expect(collections['events'].records.slabs[0].bytes.buffer).to.equal(schedule.starts.buffer);
      expect(bytesHeld).to.equal(schedule.starts.buffer.byteLength);
    }
  });

  describe('with lists in memory', () => {
    const north = recordsIn('north');
    const long = 'x'.repeat(4000);
    const tickets = times(300, (i) => north.ticket(`tkt_${i}`, { offerName: long }));
    const later = (i: number) => new Date(PRODUCED_AT.getTime() + i * 1000);
    const paths = { first: '', second: '', third: '', other: '' };

    before(async () => {
      const [first, second, third, other] = [1, 2, 3, 4].map((i) => inFolder(`${i}.sqlite`));
      Object.assign(paths, { first, second, third, other });
      const organizations = [{ organizationId: 'north' }];
      await buildFile({ organizations, tickets }, first);
      const changed = [north.ticket('tkt_new'), north.ticket('tkt_7', { offerName: 'changed' })];
      await buildFile({ tickets: changed }, second, { base: first, producedAt: later(1) });
      await buildFile({ orders: [north.order('ord')] }, third, { base: second, producedAt: later(2) });
      // Of another import, without a relation to those.
      const others = [...tickets.slice(10), north.ticket('tkt_other')].toReversed();
      await buildFile({ organizations, tickets: others }, other, { producedAt: later(3) });
    });

    const sections = ({ organizations }: SnapshotImage): KnownList[] =>
      organizations.map(({ organizationId, lists }) => ({
        organizationId,
        image: lists.tickets,
        stays: true,
      }));
    const loadWith = (path: string, known: readonly KnownList[]) =>
      loadSnapshot(path, { admit: () => Promise.resolve({ known, isAdmitted: true }) });

    it('keeps a list that a snapshot does not change, and reads its changes', async () => {
      const known = sections(await loadSnapshot(paths.second));
      const loaded = await loadWith(paths.third, known);
      expect(readable(loaded)).to.deep.equal(readable(await loadSnapshot(paths.third)));
      // The memory is the same one.
      known[0].image.uses[0] = 7;
      expect(loaded.organizations[0].lists.tickets.uses[0]).to.equal(7);
    });

    it('copies only records that are in none of them, whatever lies between the snapshots', async () => {
      const images: SnapshotImage[] = [];
      const copied: number[] = [];
      for (const path of [paths.first, paths.second, paths.third, paths.other, paths.first]) {
        const known = images.flatMap(sections);
        const loaded = await loadWith(path, known);
        expect(readable(loaded)).to.deep.equal(readable(await loadSnapshot(path)));
        const held = memoryOf(known.map(({ image }) => image)).numbers;
        const added = sections(loaded)
          .flatMap(({ image }) => sharedRecordsOf(image).flatMap(({ slabs }) => slabs))
          .filter(({ number }) => !held.has(number));
        copied.push(
          added.flatMap(
            ({ bytes }) =>
              Buffer.from(bytes)
                .toString()
                .match(/"ticketId":/g) ?? [],
          ).length,
        );
        images.push(loaded);
      }
      expect(copied).to.deep.equal([300, 2, 0, 1, 0]);
    });

    it('refuses a damaged record, although it has that in memory', async () => {
      const known = sections(await loadSnapshot(paths.first));
      const bytes = readFileSync(paths.first);
      bytes[bytes.lastIndexOf('xxx')] ^= 1;
      writeFileSync(inFolder('damaged.sqlite'), bytes);
      const loading = loadWith(inFolder('damaged.sqlite'), known);
      expect(await refusalOf(loading, RefusedSnapshot)).to.have.property('reason', 'damaged');
    });

    it('computes the bytes to copy before it is admitted, where this is asked', async () => {
      const known = sections(await loadSnapshot(paths.first));
      const asked: (number | undefined)[] = [];
      const loaded = await loadSnapshot(paths.other, {
        admit: (_, bytesToCopy) => {
          asked.push(bytesToCopy);
          return Promise.resolve({ known, isAdmitted: asked.length > 1 });
        },
      });
      const { numbers } = memoryOf(known.map(({ image }) => image));
      const [{ image }] = sections(loaded);
      const [{ places }] = sharedRecordsOf(image);
      const { bytes } = memoryOf([{ ...image, bytesHeld: -places.byteLength }], numbers);
      expect(asked).to.deep.equal([undefined, bytes]);
    });
  });

  it('gives a history its digest, whether or not another thread reads the file', async () => {
    const path = inFolder('events-only.sqlite');
    const { event, session } = recordsIn('north');
    const organizations = [{ organizationId: 'north' }];
    await buildFile({ organizations, events: [event('evt')], sessions: [session('ses', 'evt')] }, path);
    const digests = [];
    for (const readsAhead of [true, false]) {
      const loaded = await loadSnapshot(path, { readsAhead });
      digests.push(loaded.organizations[0].history.digest);
    }
    expect(digests[0]).to.equal(digests[1]);
  });

  it('reports its progress after each block', async () => {
    const reported: Parameters<OnProgress>[] = [];
    const loaded = await loadSnapshot(sound.path, { onProgress: (...progress) => reported.push(progress) });
    expect(readable(loaded)).to.deep.equal(readable(sound.image));
    const manifest = inspectSnapshot(sound.path);
    const order = [TICKETS, ORDERS, EVENTS, SESSIONS, OFFERS];
    let records = 0;
    // Each list of the small import is one block.
    const blocks = manifest.organizations.flatMap(({ lists }) =>
      order.map(({ name }) => [(records += lists[name].recordCount), name] as const),
    );
    expect(reported).to.deep.equal(blocks.map(([read, name]) => [read, records, name]));
  });

  it('reads no content of a snapshot that is not admitted', async () => {
    const refused = new Error('not admitted');
    const loading = loadSnapshot(sound.path, {
      admit: () => {
        throw refused;
      },
      onProgress: () => expect.fail('content was read'),
    });
    expect(await refusalOf(loading, Error)).to.equal(refused);
  });

  describe('that is prepared', () => {
    const started: Worker[] = [];
    const note = (worker: Worker) => started.push(worker);
    beforeEach(() => {
      started.length = 0;
      process.on('worker', note);
    });
    afterEach(() => {
      process.off('worker', note);
    });

    async function prepare(): Promise<void> {
      prepareLoad();
      await setImmediate();
    }

    it('is the thread of the next load, and of no other', async () => {
      await prepare();
      prepareLoad();
      expect([started.length, hasLoaderThreads()]).to.deep.equal([1, false]);
      for (const threads of [1, 2]) {
        expect(readable(await loadSnapshot(sound.path, { readsAhead: false }))).to.deep.equal(
          readable(sound.image),
        );
        expect(started).to.have.length(threads);
      }
      expect(started.map(({ threadId }) => threadId)).to.deep.equal([-1, -1]);
    });

    it('ends with a load that is aborted', async () => {
      await prepare();
      const reason = new Error('aborted');
      const abort = new AbortController();
      const aborted = loadSnapshot(sound.path, {
        readsAhead: false,
        signal: abort.signal,
        admit: () => {
          abort.abort(reason);
          return new Promise(() => undefined);
        },
      });
      expect(await refusalOf(aborted, Error)).to.equal(reason);
      expect(started.map(({ threadId }) => threadId)).to.deep.equal([-1]);
      expect(hasLoaderThreads()).to.equal(false);
    });

    it('is replaced if it ends before the load', async () => {
      await prepare();
      const [worker] = started;
      await Promise.all([once(worker, 'exit'), worker.terminate()]);
      expect(readable(await loadSnapshot(sound.path, { readsAhead: false }))).to.deep.equal(
        readable(sound.image),
      );
      expect(started).to.have.length(2);
    });

    it('does not keep the process', () => {
      const module = new URL('../../../src/snapshot/load/load-snapshot.ts', import.meta.url).href;
      const program = `import { prepareLoad } from '${module}'; prepareLoad();`;
      execFileSync(process.execPath, ['--input-type=module', '--eval', program], { timeout: 20_000 });
    });
  });
});

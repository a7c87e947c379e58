import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { startRefresh } from '../src/refresh.ts';
import { loadSnapshot } from '../src/snapshot/load/load-snapshot.ts';
import { publishSnapshot } from '../src/snapshot/publish/publish-snapshot.ts';
import { newServedDigests } from '../src/store/registry/served-digests.ts';
import { buildFile } from './support/import-folder.ts';
import { inOrganization, minimalOrder } from './support/records.ts';
import { folderForEach } from './support/temporary-folder.ts';

describe('A refresh', () => {
  const inFolder = folderForEach();
  beforeEach(() => {
    mkdirSync(inFolder('snapshots'));
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => {
    mock.timers.reset();
  });
  const publish = async (word: string) => {
    const orders = [inOrganization('north')(minimalOrder('ord_1', { orderNumber: word }))];
    const file = inFolder(`${word}.sqlite`);
    const organizations = [{ organizationId: 'north', name: '' }];
    await buildFile({ organizations, orders }, file, { producedAt: new Date() });
    await publishSnapshot({ file, path: inFolder('snapshots/a.sqlite'), permits: [] });
  };

  const begin = (publishViews: () => Promise<void>) =>
    startRefresh(
      readConfig({
        SNAPSHOT_DIR: inFolder('snapshots'),
        KEYS_FILE: inFolder('keys.sqlite'),
        SNAPSHOT_RETAIN_SECONDS: '0',
      }),
      { publish: publishViews, replaceKeys: () => Promise.resolve(), servedDigests: newServedDigests() },
      pino({ level: 'silent' }),
    );

  it('serves the newest of the copies of a file that are there at the start', async () => {
    await publish('earlier');
    renameSync(inFolder('snapshots/a.sqlite'), inFolder('copy.sqlite'));
    await publish('later');
    renameSync(inFolder('copy.sqlite'), inFolder('snapshots/Copy of a.sqlite'));
    copyFileSync(inFolder('snapshots/a.sqlite'), inFolder('snapshots/main.sqlite'));
    const refresh = begin(() => Promise.resolve());
    await refresh.poll();
    expect(refresh.stores.live.get('north')?.file).to.equal('a.sqlite');
    expect(refresh.history.refused.map(({ file, reason }) => [file, reason])).to.have.deep.members([
      ['Copy of a.sqlite', 'conflict'],
      ['main.sqlite', 'conflict'],
    ]);
    refresh.stop();
  });

  it('has a loader ready when a snapshot is live', async () => {
    await publish('first');
    const refresh = begin(() => Promise.resolve());
    await refresh.poll();
    await setImmediate();
    const start = () => expect.fail('a thread was started');
    process.on('worker', start);
    await loadSnapshot(inFolder('snapshots/a.sqlite'), { readsAhead: false });
    process.off('worker', start);
    refresh.stop();
  });

  /** Starts a refresh in the middle of a swap. All workers have the new view when `left` is fulfilled. */
  async function swapping() {
    const left = Promise.withResolvers<undefined>();
    const publishing = Promise.withResolvers<undefined>();
    let isSwapping = false;
    const refresh = begin(() => {
      if (isSwapping || refresh.stores.retained.length === 0) return Promise.resolve();
      isSwapping = true;
      publishing.resolve(undefined);
      return left.promise.then();
    });
    await publish('first');
    await refresh.poll();
    await publish('second');
    const polled = refresh.poll();
    await publishing.promise;
    return { refresh, left, polled };
  }

  it('releases replaced data once all workers have left it, and not before', async () => {
    const { refresh, left, polled } = await swapping();
    const replaced = refresh.stores.retained.map(({ image }) => image.name);
    expect(replaced).to.deep.equal(['orders', 'history']);
    for (let i = 0; i < 5; i++) mock.timers.tick(500);
    expect(refresh.stores.retained).to.have.length(replaced.length);
    left.resolve(undefined);
    await polled;
    expect(refresh.stores.retained).to.deep.equal([]);
    refresh.stop();
  });

  it('releases replaced data also after a swap that failed', async () => {
    const { refresh, left, polled } = await swapping();
    left.reject(new Error('the swap failed'));
    await polled;
    expect(refresh.history.refused.map(({ reason }) => reason)).to.deep.equal(['loader-failed']);
    expect(refresh.stores.retained).to.have.length(2);
    mock.timers.tick(500);
    expect(refresh.stores.retained).to.deep.equal([]);
    refresh.stop();
  });
});

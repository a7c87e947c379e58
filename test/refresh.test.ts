import { mkdirSync } from 'node:fs';
import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import { readConfig } from '../src/config.ts';
import { startRefresh } from '../src/refresh.ts';
import { publishSnapshot } from '../src/snapshot/publish/publish-snapshot.ts';
import { newServedDigests } from '../src/store/registry/served-digests.ts';
import { build, writeImport } from './support/import-folder.ts';
import { inOrganization, minimalOrder } from './support/records.ts';
import { folderForAll } from './support/temporary-folder.ts';

describe('A refresh', () => {
  const inFolder = folderForAll();
  after(() => {
    mock.timers.reset();
  });
  const publish = async (word: string) => {
    const orders = [inOrganization('north')(minimalOrder('ord_1', { orderNumber: word }))];
    writeImport(inFolder(word), { organizations: [{ organizationId: 'north', name: '' }], orders });
    await build(inFolder(word), inFolder(`${word}.sqlite`));
    const file = inFolder(`${word}.sqlite`);
    await publishSnapshot({ file, folder: inFolder('snapshots'), name: 'a.sqlite', permits: [] });
  };

  it('releases replaced data once all workers have left it, and not before', async () => {
    mkdirSync(inFolder('snapshots'));
    mock.timers.enable({ apis: ['setInterval'] });
    let shown: Promise<undefined> = Promise.resolve(undefined);
    const showing = Promise.withResolvers<undefined>();
    const config = { SNAPSHOT_DIR: inFolder('snapshots'), KEYS_FILE: inFolder('keys.sqlite') };
    const refresh = startRefresh(
      readConfig(config),
      {
        show: () => {
          if (refresh.stores.retained.length > 0) showing.resolve(undefined);
          return shown;
        },
        replaceKeys: () => Promise.resolve(),
        servedDigests: newServedDigests(),
      },
      pino({ level: 'silent' }),
    );
    await publish('first');
    await refresh.poll();
    const left = Promise.withResolvers<undefined>();
    shown = left.promise;
    await publish('second');
    const polled = refresh.poll();
    await showing.promise;
    const replaced = refresh.stores.retained.map(({ image }) => image.name);
    expect(replaced).to.deep.equal(['orders', 'history']);
    for (let i = 0; i < 5; i++) mock.timers.tick(500);
    expect(refresh.stores.retained).to.have.length(replaced.length);
    left.resolve(undefined);
    await polled;
    expect(refresh.stores.retained).to.deep.equal([]);
    refresh.stop();
  });
});

import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs, { rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { KeysWatcher } from '../../src/keys/keys-watcher.ts';
import { folderForEach } from '../support/temporary-folder.ts';

describe('the watch on the keys file', () => {
  const NOW = new Date('2026-11-21T12:00:00Z');
  const inFolder = folderForEach();
  let path: string;
  let logged: string[];
  let watcher: KeysWatcher;

  beforeEach(() => {
    path = inFolder('keys.sqlite');
    logged = [];
    const log = pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) });
    watcher = new KeysWatcher(path, log);
  });

  it('has no keys until there is a file, and says nothing of that', async () => {
    await watcher.poll();
    expect(watcher.current).to.equal(undefined);
    expect(logged).to.deep.equal([]);
  });

  it('sees every change, however soon it follows another', async () => {
    const file = new KeysFile(path);
    for (let count = 1; count <= 20; count++) {
      const { keyId, organizationId, secret } = file.create('org', '', NOW);
      await watcher.poll();
      expect(watcher.current?.check(organizationId, secret).outcome).to.equal('valid');
      file.revoke(keyId, NOW);
      await watcher.poll();
      expect(watcher.current?.check(organizationId, secret).outcome).to.equal('revoked');
    }
  });

  it('says that keys are live, and has them, when they have taken effect; those that stay as they were take none', async () => {
    const file = new KeysFile(path);
    file.create('org', '', NOW);
    let taken = 0;
    const effect = Promise.withResolvers<undefined>();
    const apply = (): Promise<void> => {
      taken++;
      return effect.promise;
    };
    const log = pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) });
    watcher = new KeysWatcher(path, log, { apply });
    const polls = [watcher.poll(), watcher.poll()];
    await setImmediate();
    expect(taken).to.equal(1);
    expect(watcher.current).to.equal(undefined);
    expect(logged).to.deep.equal([]);
    effect.resolve(undefined);
    await Promise.all(polls);
    expect(logged).to.deep.equal(['keys live']);
    const { current } = watcher;
    expect(current?.validKeys).to.equal(1);
    await watcher.poll();
    expect(watcher.current).to.equal(current);
    expect(taken).to.equal(1);
  });

  it('waits for whoever writes the file, and tells when that takes long', async () => {
    new KeysFile(path).create('org', '', NOW);
    let now = 0;
    const log = pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) });
    watcher = new KeysWatcher(path, log, { clock: () => now });
    const holder = fork(new URL('./hold-lock.ts', import.meta.url), [path]);
    const exit = once(holder, 'exit');
    await once(holder, 'message');
    await watcher.poll();
    expect(watcher.complaint).to.equal(undefined);
    now += 6000;
    await watcher.poll();
    expect(watcher.complaint).to.match(/try again/);
    holder.send('release');
    await exit;
    await watcher.poll();
    expect(watcher.complaint).to.equal(undefined);
    expect(watcher.current?.validKeys).to.equal(1);
  });

  describe('of a file whose time stamp stays when it changes', () => {
    const realStat = fs.statSync;
    let now: number;

    beforeEach(() => {
      new KeysFile(path).create('org', '', NOW);
      const stamp = statSync(path, { bigint: true });
      fs.statSync = (() => stamp) as unknown as typeof fs.statSync;
      syncBuiltinESMExports();
      now = 5_000_000;
      watcher = new KeysWatcher(path, pino({ level: 'silent' }), { clock: () => now });
    });

    afterEach(() => {
      fs.statSync = realStat;
      syncBuiltinESMExports();
    });

    it('sees what changes soon after the stamp was first seen, and does not read for ever', async () => {
      for (let keys = 1; keys <= 3; keys++, now += 1400) {
        await watcher.poll();
        expect(watcher.current?.validKeys).to.equal(keys);
        new KeysFile(path).create('org', '', NOW);
      }
      await watcher.poll();
      expect(watcher.current?.validKeys, 'at the end of the doubt').to.equal(4);
      const settled = watcher.current;
      now += 1400;
      await watcher.poll();
      expect(watcher.current).to.equal(settled);
    });

    it('goes by no wall clock', async () => {
      const realNow = Date.now;
      Date.now = () => realNow() + 86_400_000;
      try {
        await watcher.poll();
        new KeysFile(path).create('org', '', NOW);
        await watcher.poll();
        expect(watcher.current?.validKeys).to.equal(2);
      } finally {
        Date.now = realNow;
      }
    });
  });

  it('tries again what it could not read, without a change of the file', async () => {
    const target = inFolder('target');
    symlinkSync('keys.sqlite', path);
    await watcher.poll();
    expect(watcher.current).to.equal(undefined);
    new KeysFile(target).create('org', '', NOW);
    rmSync(path);
    symlinkSync('target', path);
    await watcher.poll();
    expect(watcher.current?.validKeys).to.equal(1);
    expect(logged).to.deep.equal(['keys file refused; the keys stay as they were', 'keys live']);
  });

  it('keeps the keys when the file is damaged or gone, says so once, and takes the next good one', async () => {
    const { organizationId, secret } = new KeysFile(path).create('org', '', NOW);
    const isValid = () => watcher.current?.check(organizationId, secret).outcome === 'valid';
    await watcher.poll();
    writeFileSync(path, 'damaged');
    for (let i = 0; i < 3; i++) await watcher.poll();
    expect(isValid()).to.equal(true);
    rmSync(path);
    for (let i = 0; i < 3; i++) await watcher.poll();
    expect(isValid()).to.equal(true);
    new KeysFile(path).create('org', '', NOW);
    await watcher.poll();
    expect(isValid()).to.equal(false);
    expect(logged).to.deep.equal([
      'keys live',
      'keys file refused; the keys stay as they were',
      'keys file refused; the keys stay as they were',
      'keys live',
    ]);
  });

  it('tells what is wrong as long as it is', async () => {
    await watcher.poll();
    expect(watcher.complaint, 'no file yet').to.equal(undefined);
    writeFileSync(path, 'damaged');
    await watcher.poll();
    expect(watcher.complaint).to.be.a('string').and.not.to.equal('');
    rmSync(path);
    new KeysFile(path).create('org', '', NOW);
    await watcher.poll();
    expect(watcher.complaint).to.equal(undefined);
    rmSync(path);
    await watcher.poll();
    expect(watcher.complaint).to.equal('the file no longer exists');
  });
});

import fs, { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { countValid, KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { KeysWatcher } from '../../src/keys/keys-watcher.ts';
import { readableLog } from '../support/readable-log.ts';
import { folderForEach } from '../support/temporary-folder.ts';

describe('The keys watcher', () => {
  const NOW = new Date('2026-11-21T12:00:00Z');
  const inFolder = folderForEach();
  let path: string;
  let watcher: KeysWatcher;
  const { log, lines } = readableLog();
  const logged = () => lines.map(({ msg }) => msg);
  const applyAtOnce = () => Promise.resolve();

  beforeEach(() => {
    path = inFolder('keys.sqlite');
    lines.length = 0;
    watcher = new KeysWatcher(path, log, applyAtOnce);
  });

  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  const validKeys = (keys = watcher.current) => keys && countValid(keys, NOW.getTime());
  const outcomeOf = (organizationId: string, secret: string) =>
    new KeyRing(watcher.current ?? []).check(organizationId, secret, NOW.getTime()).outcome;

  it('has no keys while the file is absent, and no complaint', async () => {
    await watcher.poll();
    expect([watcher.current, watcher.complaint, ...logged()]).to.deep.equal([undefined, undefined]);
  });

  it('detects every change, even in quick succession', async () => {
    const file = new KeysFile(path);
    for (let count = 1; count <= 20; count++) {
      const { keyId, organizationId, secret } = file.create('org', '', NOW);
      await watcher.poll();
      expect(outcomeOf(organizationId, secret)).to.equal('valid');
      file.revoke(keyId, NOW);
      await watcher.poll();
      expect(outcomeOf(organizationId, secret)).to.equal('revoked');
    }
  });

  it('holds keys, and logs them as live, once they are in force, and applies only changed keys', async () => {
    const file = new KeysFile(path);
    file.create('org', '', NOW);
    let calls = 0;
    const applied = Promise.withResolvers<undefined>();
    const apply = (): Promise<void> => {
      calls++;
      return applied.promise;
    };
    watcher = new KeysWatcher(path, log, apply);
    const polls = [watcher.poll(), watcher.poll()];
    await setImmediate();
    expect(calls).to.equal(1);
    expect(watcher.current).to.equal(undefined);
    expect(logged()).to.deep.equal([]);
    applied.resolve(undefined);
    await Promise.all(polls);
    expect(logged()).to.deep.equal(['keys live']);
    const { current } = watcher;
    expect(validKeys(current)).to.equal(1);
    await watcher.poll();
    expect(watcher.current).to.equal(current);
    expect(calls).to.equal(1);
  });

  it('waits for the writer of a locked file, and reports a long wait', async () => {
    new KeysFile(path).create('org', '', NOW);
    let now = 0;
    mock.method(performance, 'now', () => now);
    const writer = new Database(path).exec('BEGIN EXCLUSIVE');
    await watcher.poll();
    expect(watcher.complaint).to.equal(undefined);
    now += 6000;
    await watcher.poll();
    expect(watcher.complaint).to.match(/try again/);
    writer.close();
    await watcher.poll();
    expect(watcher.complaint).to.equal(undefined);
    expect(validKeys()).to.equal(1);
  });

  it('reads the file again for a few seconds after a timestamp appears, and no longer', async () => {
    new KeysFile(path).create('org', '', NOW);
    // The timestamp does not change with the file.
    const stamp = statSync(path, { bigint: true });
    mock.method(fs, 'statSync', () => stamp);
    syncBuiltinESMExports();
    let now = 5_000_000;
    mock.method(performance, 'now', () => now);
    // The last of these polls is 4.2 seconds after the first one.
    for (let keys = 1; keys <= 4; keys++, now += 1400) {
      await watcher.poll();
      expect(validKeys()).to.equal(keys);
      new KeysFile(path).create('org', '', NOW);
    }
    const settled = watcher.current;
    await watcher.poll();
    expect(watcher.current).to.equal(settled);
  });

  describe('of a file that other users can write to', () => {
    beforeEach(() => {
      path = inFolder('folder/keys.sqlite');
      for (const folder of ['folder', 'target']) mkdirSync(inFolder(folder));
      symlinkSync('../target/keys.sqlite', path);
      new KeysFile(inFolder('target/keys.sqlite')).create('org', '', NOW);
      watcher = new KeysWatcher(path, log, applyAtOnce);
    });

    for (const [exposed, mode, valid, warning] of [
      ['target/keys.sqlite', 0o620, 0o600, /^group or others can write to the file$/],
      ['target/keys.sqlite', 0o602, 0o600, /^group or others can write to the file$/],
      ['folder', 0o770, 0o755, /write to the folder .*folder$/],
      ['folder', 0o707, 0o755, /write to the folder .*folder$/],
      ['target', 0o777, 0o1777, /write to the folder .*target$/],
    ] as const) {
      it(`reads it, and warns once while the mode of ${exposed} is ${mode.toString(8)}`, async () => {
        await watcher.poll();
        expect(watcher.warning).to.equal(undefined);
        chmodSync(inFolder(exposed), mode);
        for (let i = 0; i < 3; i++) await watcher.poll();
        expect(watcher.warning).to.match(warning);
        expect(watcher.complaint).to.equal(undefined);
        new KeysFile(path).create('org', '', NOW);
        await watcher.poll();
        expect(validKeys()).to.equal(2);
        expect(logged().filter((msg) => msg === 'the keys file is exposed')).to.have.length(1);
        chmodSync(inFolder(exposed), valid);
        await watcher.poll();
        expect(watcher.warning).to.equal(undefined);
      });
    }
  });

  it('says that no key is valid while there was no valid file before', async () => {
    writeFileSync(path, 'damaged');
    await watcher.poll();
    expect(logged()).to.deep.equal(['cannot use the keys file; no key is valid']);
  });

  it('keeps the keys while the file is damaged or absent, reports each fault once, and reads the next valid file', async () => {
    const { organizationId, secret } = new KeysFile(path).create('org', '', NOW);
    const isValid = () => outcomeOf(organizationId, secret) === 'valid';
    await watcher.poll();
    expect(watcher.complaint).to.equal(undefined);
    writeFileSync(path, 'damaged');
    for (let i = 0; i < 3; i++) await watcher.poll();
    expect(watcher.complaint).to.include('not an SQLite database');
    expect(isValid()).to.equal(true);
    rmSync(path);
    for (let i = 0; i < 3; i++) await watcher.poll();
    expect(watcher.complaint).to.equal('the file no longer exists');
    expect(isValid()).to.equal(true);
    new KeysFile(path).create('org', '', NOW);
    await watcher.poll();
    expect(watcher.complaint).to.equal(undefined);
    expect(isValid()).to.equal(false);
    expect(logged()).to.deep.equal([
      'keys live',
      'cannot use the keys file; the previous keys stay in force',
      'cannot use the keys file; the previous keys stay in force',
      'keys live',
    ]);
  });
});

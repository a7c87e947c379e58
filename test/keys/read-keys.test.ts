import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { countValid } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeys } from '../../src/keys/keys-file.ts';
import { CorruptKeysFile, KeysFileBusy } from '../../src/keys/open-keys-file.ts';
import { folderForEach } from '../support/temporary-folder.ts';

const MONDAY = new Date('2026-11-16T08:00:00.000Z');
const NOW = MONDAY.getTime();

describe('readKeys', () => {
  const inFolder = folderForEach();

  /** Creates a valid keys file with two keys. */
  function keysFile(name = 'keys.sqlite'): string {
    const path = inFolder(name);
    const file = new KeysFile(path);
    file.create('org_1', 'till', MONDAY);
    file.create('org_2', 'till', MONDAY);
    return path;
  }

  function withContent(content: string): string {
    writeFileSync(inFolder('text'), content);
    return inFolder('text');
  }

  function altered(sql: string): string {
    const path = keysFile();
    new Database(path).exec(sql).close();
    return path;
  }

  it('does not change the file and its folder', () => {
    const path = keysFile();
    const before = readFileSync(path);
    readKeys(path);
    expect(readFileSync(path)).to.deep.equal(before);
    expect(readdirSync(dirname(path))).to.deep.equal(['keys.sqlite']);
  });

  for (const column of ['key_id', 'organization_id', 'label', 'created_at', 'expires_at', 'revoked_at'])
    it(`refuses a file with a long text in ${column}`, () => {
      const long = `UPDATE keys SET ${column} = replace(hex(zeroblob(1000)), '0', 'x') WHERE organization_id = 'org_1'`;
      expect(() => readKeys(altered(long))).to.throw(CorruptKeysFile, 'a value has more than 1024 bytes');
    });

  it('reads a file whose schema has other comments', () => {
    const path = keysFile();
    const database = new Database(path);
    database.unsafeMode();
    database.pragma('writable_schema = ON');
    const update =
      "UPDATE sqlite_schema SET sql = replace(sql, '-- ', '--  an earlier wording: ') WHERE sql LIKE '%--%'";
    expect(database.prepare(update).run().changes).to.be.greaterThan(0);
    database.close();
    expect(countValid(readKeys(path), NOW)).to.equal(2);
  });

  const refused: [kind: string, make: () => string, reason: string][] = [
    ['a folder', () => dirname(keysFile()), 'not a regular file'],
    ['an empty file', () => withContent(''), 'the file is empty'],
    ['a short text file', () => withContent('svc:o:org_1:key\n'), 'not an SQLite database'],
    ['a long text file', () => withContent('key\n'.repeat(5000)), 'not an SQLite database'],
    ['another database', () => altered('PRAGMA application_id = 7'), "another application's database"],
    ['another version', () => altered('PRAGMA user_version = 2'), 'is 2, and this one reads version 1'],
    ['a missing column', () => altered('ALTER TABLE keys DROP COLUMN label'), 'with the schema in'],
    [
      'a foreign trigger',
      () => altered('CREATE TRIGGER t INSERT ON keys BEGIN SELECT 1; END'),
      'move the file away',
    ],
    [
      'an expiry outside the grammar of timestamps',
      () => altered("UPDATE keys SET expires_at = '2027-01-31 20:00:00'"),
      'the expiry of key key_',
    ],
    ['WAL mode', () => altered('PRAGMA journal_mode = WAL'), 'WAL mode'],
    [
      'an organization id that a credential cannot contain',
      () => altered("UPDATE keys SET organization_id = 'a:b'"),
      'must be 1 to 128 characters',
    ],
  ];
  for (const [kind, make, reason] of refused) {
    it(`refuses ${kind}, and creates no file`, () => {
      const path = make();
      const before = readdirSync(dirname(path));
      expect(() => readKeys(path)).to.throw(CorruptKeysFile, reason);
      expect(readdirSync(dirname(path))).to.deep.equal(before);
    });
  }

  it('refuses a file truncated at any length', () => {
    const path = keysFile();
    const whole = readFileSync(path);
    for (let size = whole.length - 1; size > 0; size -= 511) {
      // SQLite reads the missing bytes of a page as zeros, and the digest at the end of the file may end in one.
      if (whole.subarray(size).every((byte) => byte === 0)) continue;
      writeFileSync(path, whole);
      truncateSync(path, size);
      expect(() => readKeys(path), `${size} bytes`).to.throw(CorruptKeysFile);
    }
  });

  it('refuses a changed byte in any column that authenticates a request', () => {
    const path = keysFile();
    const file = new KeysFile(path);
    const [entry] = file.list();
    const expiresAt = '2027-03-01T08:00:00.000Z';
    const revokedAt = '2026-11-17T08:00:00.000Z';
    file.create('org_3', '', MONDAY, new Date(expiresAt));
    file.revoke(entry.keyId, new Date(revokedAt));
    const database = new Database(path);
    database.exec('VACUUM'); // Removes the bytes of former rows.
    const digest = database.prepare<[], Buffer>('SELECT digest FROM keys').pluck().get();
    database.close();
    const whole = readFileSync(path);
    if (digest === undefined) throw new Error('the file has no key');
    const texts = [entry.keyId, entry.organizationId, expiresAt, revokedAt].map((text) => Buffer.from(text));
    for (const value of [...texts, digest]) {
      let places = 0;
      for (let at = whole.indexOf(value); at >= 0; at = whole.indexOf(value, at + 1)) {
        const changed = Buffer.from(whole);
        changed.writeUInt8(changed.readUInt8(at + 2) ^ 1, at + 2);
        writeFileSync(path, changed);
        expect(() => readKeys(path), value.toString('latin1')).to.throw(CorruptKeysFile, 'damaged');
        places++;
      }
      expect(places).to.be.greaterThan(1);
    }
  });

  it('refuses a file whose last write was interrupted, until a keys command rolls it back', () => {
    const path = keysFile('whole.sqlite');
    const crashed = inFolder('crashed/keys.sqlite');
    mkdirSync(dirname(crashed));
    const database = new Database(path);
    database.pragma('cache_size = 1'); // The change reaches the file before it is committed.
    database.exec('BEGIN; CREATE TABLE t (x)');
    database
      .prepare('INSERT INTO t SELECT randomblob(4000) FROM (VALUES (1), (2), (3), (4), (5), (6))')
      .run();
    copyFileSync(path, crashed);
    copyFileSync(`${path}-journal`, `${crashed}-journal`);
    database.close();

    expect(() => readKeys(crashed)).to.throw(CorruptKeysFile, 'interrupted');
    expect(new KeysFile(crashed).list()).to.have.length(2);
    expect(countValid(readKeys(crashed), NOW)).to.equal(2);
  });

  it('reads a consistent state while two processes create and revoke keys', async () => {
    const path = inFolder('keys.sqlite');
    const writers = ['org_1', 'org_2'].map((organization) =>
      fork(new URL('./make-and-revoke.ts', import.meta.url), [path, organization, '20']),
    );
    let running = writers.length;
    const exits = writers.map(async (writer) => {
      const [code] = (await once(writer, 'exit')) as [number | null];
      running--;
      return code;
    });
    let most = 0;
    while (running > 0) {
      await new Promise(setImmediate);
      // The file is absent before the first key.
      if (!existsSync(path)) continue;
      try {
        most = Math.max(most, countValid(readKeys(path), NOW));
      } catch (error) {
        // A slow disk may keep the file locked for a while.
        if (!(error instanceof KeysFileBusy)) throw error;
      }
    }
    expect(await Promise.all(exits)).to.deep.equal([0, 0]);
    expect(most).to.be.greaterThan(0);
    // Every second key is revoked.
    expect(countValid(readKeys(path), NOW)).to.equal(20);
    expect(new KeysFile(path).list()).to.have.length(40);
    expect(readdirSync(dirname(path))).to.deep.equal(['keys.sqlite']);
  });
});

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { digestOf } from '../../src/keys/credential.ts';
import { KeysFile, readKeyRing } from '../../src/keys/keys-file.ts';
import { KeysFileBusy, withKeysFile } from '../../src/keys/open-keys-file.ts';
import { folderForEach } from '../support/temporary-folder.ts';

const MONDAY = '2026-11-16T08:00:00.000Z';
const TUESDAY = new Date('2026-11-17T08:00:00.000Z');
const NOW = TUESDAY.getTime();

/** The schema of version 1, as released, without its comments. */
const VERSION_1 = `
  PRAGMA application_id = 0x466F796B;
  PRAGMA user_version = 1;
  CREATE TABLE keys (
    key_id          TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL,
    label           TEXT NOT NULL,
    digest          BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    created_at      TEXT NOT NULL,
    revoked_at      TEXT
  ) STRICT;
  CREATE INDEX keys_by_organization ON keys (organization_id, digest, revoked_at);`;

describe('A keys file of version 1', () => {
  const inFolder = folderForEach();
  let path: string;

  beforeEach(() => {
    path = inFolder('keys.sqlite');
    const database = new Database(path);
    database.exec(VERSION_1);
    const insert = database.prepare('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)');
    for (const [id, revokedAt] of [
      ['key_a', null],
      ['key_b', MONDAY],
    ] as const) {
      insert.run(id, 'org_1', 'till', Buffer.from(digestOf(`secret of ${id}`), 'hex'), MONDAY, revokedAt);
    }
    database.close();
  });

  const entry = { organizationId: 'org_1', label: 'till', createdAt: MONDAY, expiresAt: null };
  const entries = [
    { ...entry, keyId: 'key_a', revokedAt: null },
    { ...entry, keyId: 'key_b', revokedAt: MONDAY },
  ];

  function expectKeys(): void {
    const ring = readKeyRing(path);
    const check = (id: string) => ring.check('org_1', `secret of ${id}`, NOW).outcome;
    expect(['key_a', 'key_b', 'key_c'].map(check)).to.deep.equal(['valid', 'revoked', 'unknown']);
  }

  /** Returns the version and schema of the file, without comments and white space. */
  function formatOf(file: string) {
    const database = new Database(file, { readonly: true });
    const statements = database.prepare<[], string>(
      'SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name',
    );
    const schema = statements
      .pluck()
      .all()
      .join()
      .replace(/--.*|\s/g, '');
    const version = database.pragma('user_version', { simple: true });
    database.close();
    return { version, schema };
  }

  it('is read by the server and by `list`, and stays as it is', () => {
    const before = readFileSync(path);
    expectKeys();
    expect(new KeysFile(path).list()).to.deep.equal(entries);
    expect(readFileSync(path)).to.deep.equal(before);
    expect(readdirSync(dirname(path))).to.deep.equal(['keys.sqlite']);
  });

  const writes: [command: string, write: (file: KeysFile) => unknown][] = [
    ['create', (file) => file.create('org_2', '', TUESDAY)],
    ['rotate', (file) => file.rotate('key_a', 3_600_000, TUESDAY)],
    ['revoke', (file) => file.revoke('key_b', TUESDAY)],
  ];
  for (const [command, write] of writes) {
    it(`is converted by \`${command}\`, and keeps its keys`, () => {
      write(new KeysFile(path));
      new KeysFile(inFolder('new.sqlite')).create('org_1', '', TUESDAY);
      expect(formatOf(path)).to.deep.equal(formatOf(inFolder('new.sqlite')));
      expect(formatOf(path).version).to.equal(2);
      expectKeys();
      const kept = new KeysFile(path)
        .list()
        .filter(({ keyId }) => entries.some((one) => one.keyId === keyId));
      if (command === 'rotate') expect(kept[0]).to.include({ expiresAt: '2026-11-17T09:00:00.000Z' });
      else expect(kept).to.deep.equal(entries);
    });
  }

  it('stays as it is when the write fails', () => {
    const before = readFileSync(path);
    expect(() => new KeysFile(path).rotate('key_a', NaN, TUESDAY)).to.throw(RangeError);
    expect(readFileSync(path)).to.deep.equal(before);
    expectKeys();
  });

  it('cannot be written between the checks of a reader and its read', () => {
    const writer = new Database(path, { timeout: 0 });
    withKeysFile(path, { mode: 'read', timeoutMs: 0 }, () => {
      expect(() => writer.exec('DELETE FROM keys'))
        .to.throw()
        .with.property('code', 'SQLITE_BUSY');
    });
    writer.close();
    expectKeys();
  });

  it('is valid at every moment while two processes convert it and create keys', async () => {
    const writers = ['org_2', 'org_3'].map((organization) =>
      fork(new URL('./make-and-revoke.ts', import.meta.url), [path, organization, '4']),
    );
    let running = writers.length;
    const exits = writers.map(async (writer) => {
      const [code] = (await once(writer, 'exit')) as [number | null];
      running--;
      return code;
    });
    while (running > 0) {
      await new Promise(setImmediate);
      try {
        expectKeys();
      } catch (error) {
        if (!(error instanceof KeysFileBusy)) throw error;
      }
    }
    expect(await Promise.all(exits)).to.deep.equal([0, 0]);
    expect(formatOf(path).version).to.equal(2);
    expect(new KeysFile(path).list()).to.have.length(2 + 8);
  });
});

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { KeyRing } from '../../src/keys/key-ring.ts';
import { isLabel, KeysFile, readKeys } from '../../src/keys/keys-file.ts';
import { folderForEach } from '../support/temporary-folder.ts';

const MONDAY = new Date('2026-11-16T08:00:00.000Z');
const TUESDAY = new Date('2026-11-17T08:00:00.000Z');
const WEDNESDAY = new Date('2026-11-18T08:00:00.000Z');
const HOUR_MS = 3_600_000;

describe('KeysFile', () => {
  const inFolder = folderForEach();

  it('creates the file with the first key, readable by its group whatever the umask, and no other file', () => {
    const path = inFolder('keys/keys.sqlite');
    expect(() => new KeysFile(path).create('org_1', '', MONDAY)).to.throw('ENOENT');
    mkdirSync(dirname(path));
    const umask = process.umask(0o077);
    new KeysFile(path).create('org_1', '', MONDAY);
    process.umask(umask);
    expect(statSync(path).mode & 0o777).to.equal(0o640);
    expect(readdirSync(dirname(path))).to.deep.equal(['keys.sqlite']);
  });

  it('creates distinct secrets of 256 bits', () => {
    const file = new KeysFile(inFolder('keys.sqlite'));
    const secrets = [1, 2, 3].map(() => file.create('org_1', '', MONDAY).secret);
    expect(new Set(secrets).size).to.equal(3);
    for (const secret of secrets) {
      expect(secret).to.match(/^[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(secret, 'base64url')).to.have.length(32);
    }
  });

  it('stores labels, and no secret', () => {
    const path = inFolder('keys.sqlite');
    const { secret } = new KeysFile(path).create('org_1', 'till', MONDAY);
    const bytes = readFileSync(path);
    const isStored = ['till', secret, Buffer.from(secret, 'base64url')].map((part) => bytes.includes(part));
    expect(isStored).to.deep.equal([true, false, false]);
  });

  it('lists keys by creation time, with their expiry, without secrets and digests', () => {
    const file = new KeysFile(inFolder('keys.sqlite'));
    const later = file.create('org_2', '', TUESDAY);
    const earlier = file.create('org_1', 'box office', MONDAY, WEDNESDAY);
    const listed = { revokedAt: null, expiresAt: null };
    expect(file.list()).to.deep.equal([
      {
        ...{ ...listed, keyId: earlier.keyId, organizationId: 'org_1', label: 'box office' },
        ...{ createdAt: '2026-11-16T08:00:00.000Z', expiresAt: '2026-11-18T08:00:00.000Z' },
      },
      {
        ...{ ...listed, keyId: later.keyId, organizationId: 'org_2', label: '' },
        createdAt: '2026-11-17T08:00:00.000Z',
      },
    ]);
  });

  it('revokes a key permanently', () => {
    const file = new KeysFile(inFolder('keys.sqlite'));
    const { keyId } = file.create('org_1', '', MONDAY);
    file.create('org_1', '', MONDAY);
    expect(file.revoke(keyId, TUESDAY)).to.deep.equal({ revokedAt: TUESDAY.toISOString(), already: false });
    expect(file.revoke(keyId, WEDNESDAY)).to.deep.equal({ revokedAt: TUESDAY.toISOString(), already: true });
    const revoked = file.list().filter(({ revokedAt }) => revokedAt !== null);
    expect(revoked.map((key) => key.keyId)).to.deep.equal([keyId]);
    expect(file.revoke('key_none', TUESDAY)).to.equal(undefined);
  });

  it('refuses an invalid organization or label, and creates no file', () => {
    const path = inFolder('keys.sqlite');
    const file = new KeysFile(path);
    expect(() => file.create('a:b', '', MONDAY)).to.throw(RangeError, 'organizationId must be 1 to 128');
    expect(() => file.create('org_1', 'a\nb', MONDAY)).to.throw(RangeError, 'label must be at most 200');
    expect(existsSync(path)).to.equal(false);
  });

  it('refuses a file of another kind, and leaves it unchanged', () => {
    const [text, database] = [inFolder('notes.txt'), inFolder('other.sqlite')];
    writeFileSync(text, 'buy milk\n');
    new Database(database).exec('CREATE TABLE milk (litres INTEGER)').close();
    for (const [path, reason] of [
      [text, 'not an SQLite database'],
      [database, "another application's database"],
    ]) {
      const before = readFileSync(path);
      expect(() => new KeysFile(path).create('org_1', '', MONDAY)).to.throw(reason);
      expect(readFileSync(path)).to.deep.equal(before);
    }
  });
});

describe('KeysFile.rotate', () => {
  const inFolder = folderForEach();
  let file: KeysFile;

  beforeEach(() => {
    file = new KeysFile(inFolder('keys.sqlite'));
  });

  /** Rotates a key on Tuesday, and returns the new key and the expiry of the former one. */
  function rotated(keyId: string, overlapMs = HOUR_MS, expiresAt?: Date) {
    const rotation = file.rotate(keyId, overlapMs, TUESDAY, expiresAt);
    if (typeof rotation === 'string') throw new Error(`refused: ${rotation}`);
    return rotation;
  }

  it('creates a key of the same organization and label, and lets the former one expire after the overlap', () => {
    const former = file.create('org_1', 'till', MONDAY);
    const other = file.create('org_1', 'till', MONDAY);
    const { key, formerExpiresAt } = rotated(former.keyId);
    expect(formerExpiresAt).to.equal('2026-11-17T09:00:00.000Z');
    const shared = { organizationId: 'org_1', label: 'till', revokedAt: null };
    expect(file.list()).to.have.deep.members([
      { ...shared, keyId: former.keyId, createdAt: MONDAY.toISOString(), expiresAt: formerExpiresAt },
      { ...shared, keyId: other.keyId, createdAt: MONDAY.toISOString(), expiresAt: null },
      { ...shared, keyId: key.keyId, createdAt: TUESDAY.toISOString(), expiresAt: null },
    ]);
    const ring = new KeyRing(readKeys(inFolder('keys.sqlite')));
    const outcomes = (now: Date) =>
      [former, key].map(({ secret }) => ring.check('org_1', secret, now.getTime()).outcome);
    expect(outcomes(TUESDAY)).to.deep.equal(['valid', 'valid']);
    expect(outcomes(WEDNESDAY)).to.deep.equal(['expired', 'valid']);
  });

  it('does not extend an expiry, and gives the new key its own or none', () => {
    const { keyId } = file.create('org_1', '', MONDAY, WEDNESDAY);
    const { key, formerExpiresAt } = rotated(keyId, 48 * HOUR_MS);
    expect(formerExpiresAt).to.equal(WEDNESDAY.toISOString());
    const expiryOf = (id: string) => file.list().find((entry) => entry.keyId === id)?.expiresAt;
    expect(expiryOf(key.keyId)).to.equal(null);
    expect(expiryOf(rotated(key.keyId, 0, WEDNESDAY).key.keyId)).to.equal(WEDNESDAY.toISOString());
  });
});

describe('isLabel', () => {
  it('accepts up to 200 characters without control characters', () => {
    for (const text of ['', 'Zoë’s till, 2nd floor', '票'.repeat(200)])
      expect(isLabel(text), text).to.equal(true);
    for (const text of ['a\nb', '\x1b[2J', 'a\t', '\x7f', 'x'.repeat(201)])
      expect(isLabel(text), text).to.equal(false);
  });
});

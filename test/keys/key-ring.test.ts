import Database from 'better-sqlite3';
import { expect } from 'chai';
import { KeysFile, readKeyRing } from '../../src/keys/keys-file.ts';
import { folderForEach } from '../support/temporary-folder.ts';

const MONDAY = new Date('2026-11-16T08:00:00.000Z');
const NOW = MONDAY.getTime();
const UNKNOWN = { outcome: 'unknown' };
const REVOKED = { outcome: 'revoked' };

describe('KeyRing.check', () => {
  const inFolder = folderForEach();

  function setUp() {
    const path = inFolder('keys.sqlite');
    const file = new KeysFile(path);
    const [first, second, foreign] = ['org_1', 'org_1', 'org_2'].map((id) => file.create(id, '', MONDAY));
    return { path, file, first, second, foreign };
  }

  it('accepts each key of an organization', () => {
    const { path, first, second, foreign } = setUp();
    const ring = readKeyRing(path);
    for (const { organizationId, secret, keyId } of [first, second, foreign]) {
      const valid = { outcome: 'valid', keyId, organizationId };
      expect(ring.check(organizationId, secret, NOW)).to.deep.include(valid);
    }
    expect(ring.countValid(NOW)).to.equal(3);
  });

  it('accepts keys of a file whose schema has other comments', () => {
    const { path, first } = setUp();
    const database = new Database(path);
    database.unsafeMode();
    database.pragma('writable_schema = ON');
    const { changes } = database
      .prepare(
        "UPDATE sqlite_schema SET sql = replace(sql, '-- ', '--  an earlier wording: ') WHERE sql LIKE '%--%'",
      )
      .run();
    database.close();
    expect(changes).to.be.greaterThan(0);
    expect(readKeyRing(path).check(first.organizationId, first.secret, NOW).outcome).to.equal('valid');
  });

  it('does not distinguish an unknown organization, an unknown key and a key of another organization', () => {
    const { path, first, foreign } = setUp();
    const ring = readKeyRing(path);
    for (const [organizationId, secret] of [
      ...['org_3', 'ORG_1', '__proto__'].map((id) => [id, first.secret]),
      ...['guess', foreign.secret].map((wrong) => ['org_1', wrong]),
      ['', ''],
    ])
      expect(ring.check(organizationId, secret, NOW)).to.deep.equal(UNKNOWN);
  });

  it('refuses every similar secret', () => {
    const { path, first } = setUp();
    const ring = readKeyRing(path);
    const { secret } = first;
    for (const similar of [
      `${secret} `,
      `${secret}=`,
      secret.slice(1),
      secret.slice(0, -1),
      secret.toLowerCase(),
      secret.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')),
      '\0'.repeat(secret.length),
    ]) {
      expect(ring.check('org_1', similar, NOW)).to.deep.equal(UNKNOWN);
    }
  });

  it('reports "revoked" for the revoked secret of that organization alone', () => {
    const { path, file, first, second, foreign } = setUp();
    file.revoke(first.keyId, MONDAY);
    file.revoke(foreign.keyId, MONDAY);
    const ring = readKeyRing(path);
    expect(ring.check('org_1', first.secret, NOW)).to.deep.equal(REVOKED);
    expect(ring.check('org_1', second.secret, NOW)).to.deep.include({
      outcome: 'valid',
      keyId: second.keyId,
    });
    expect(ring.check('org_2', first.secret, NOW)).to.deep.equal(UNKNOWN);
    expect(ring.check('org_1', foreign.secret, NOW)).to.deep.equal(UNKNOWN);
    expect(ring.check('org_2', 'guess', NOW)).to.deep.equal(UNKNOWN);
    expect(ring.countValid(NOW)).to.equal(1);
  });

  it('reports "expired" from the expiry on, for the expired secret of that organization alone', () => {
    const { path, file, second } = setUp();
    const key = file.create('org_1', '', MONDAY, new Date(NOW + 1000));
    const ring = readKeyRing(path);
    const check = (now: number) => ring.check('org_1', key.secret, now).outcome;
    expect([NOW, NOW + 999, NOW + 1000, NOW + 1e9].map(check)).to.deep.equal([
      'valid',
      'valid',
      'expired',
      'expired',
    ]);
    expect(ring.check('org_2', key.secret, NOW + 1000)).to.deep.equal(UNKNOWN);
    expect(ring.check('org_1', 'guess', NOW + 1000)).to.deep.equal(UNKNOWN);
    expect(ring.check('org_1', second.secret, NOW + 1e12).outcome).to.equal('valid');
    expect([ring.countValid(NOW), ring.countValid(NOW + 1000)]).to.deep.equal([4, 3]);
  });

  it('reports "revoked" for a revoked key, also after its expiry', () => {
    const { path, file } = setUp();
    const { keyId, secret } = file.create('org_1', '', MONDAY, new Date(NOW + 1000));
    file.revoke(keyId, MONDAY);
    const ring = readKeyRing(path);
    expect(ring.check('org_1', secret, NOW)).to.deep.equal(REVOKED);
    expect(ring.check('org_1', secret, NOW + 1000)).to.deep.equal(REVOKED);
  });

  it('does not change with the file', () => {
    const { path, file, first } = setUp();
    const ring = readKeyRing(path);
    file.revoke(first.keyId, MONDAY);
    expect(ring.check('org_1', first.secret, NOW)).to.deep.include({ outcome: 'valid' });
    expect(readKeyRing(path).check('org_1', first.secret, NOW)).to.deep.equal(REVOKED);
  });
});

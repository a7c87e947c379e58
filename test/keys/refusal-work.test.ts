import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { authenticate } from '../../src/http/checks/authenticate.ts';
import { type Credential, digestOf, formatCredential } from '../../src/keys/credential.ts';
import { KeyRing, type KeyRow } from '../../src/keys/key-ring.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const PAST = '2026-11-20T12:00:00.000Z';

/** The work for a key, of which nearly all is the digest of the secret, does not tell why the key is refused. */
describe('The check of a key', () => {
  const rows: KeyRow[] = [];
  const digested: unknown[] = [];
  const { hash } = crypto;

  before(() => {
    crypto.hash = ((algorithm: string, data: string) => {
      digested.push(data);
      return hash(algorithm, data);
    }) as typeof hash;
    syncBuiltinESMExports();
  });

  after(() => {
    crypto.hash = hash;
    syncBuiltinESMExports();
  });

  function newKey(secret: string, ended: Partial<KeyRow> = {}): string {
    const digest = Buffer.from(digestOf(secret), 'hex');
    const key = { organizationId: 'org_1', label: '', digest, expiresAt: null, revokedAt: null };
    rows.push({ ...key, keyId: `key_${rows.length}`, ...ended });
    return secret;
  }

  const credentials: Readonly<Record<string, Credential>> = {
    'an unknown organization': { organizationId: 'org_3', secret: 'none' },
    'an unknown key of an organization': { organizationId: 'org_1', secret: 'none' },
    'the key of another organization': { organizationId: 'org_2', secret: newKey('foreign') },
    'an expired key': { organizationId: 'org_1', secret: newKey('expired', { expiresAt: PAST }) },
    'a revoked key': { organizationId: 'org_1', secret: newKey('revoked', { revokedAt: PAST }) },
    'a valid key': { organizationId: 'org_1', secret: newKey('valid') },
  };
  newKey('other', { organizationId: 'org_2' });
  const ring = new KeyRing(rows);

  for (const [kind, credential] of Object.entries(credentials)) {
    it(`digests the secret once for ${kind}`, () => {
      digested.length = 0;
      const headers = { authorization: `Bearer ${formatCredential(credential)}` };
      const check = () => authenticate({ headers }, ring, NOW);
      if (kind === 'a valid key') check();
      else expect(check).to.throw();
      expect(digested).to.deep.equal([credential.secret]);
    });
  }
});

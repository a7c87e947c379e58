import { expect } from 'chai';
import { digestOf } from '../../src/keys/credential.ts';
import {
  addSlot,
  countValid,
  KeyRing,
  type KeyRow,
  lastKeyUse,
  MAX_SLOTS,
  newLastUses,
  noteKeyUse,
  type stateOf,
} from '../../src/keys/key-ring.ts';

type State = ReturnType<typeof stateOf>;

const row = (keyId: string, ended: Partial<KeyRow> = {}): KeyRow => ({
  keyId,
  organizationId: 'org_1',
  label: '',
  digest: Buffer.from(digestOf(`Secret of ${keyId}`), 'hex'),
  expiresAt: null,
  revokedAt: null,
  ...ended,
});

describe('KeyRing.check', () => {
  const END = Date.parse('2026-11-21T12:00:00Z');
  const ended = new Date(END).toISOString();
  const rows = [
    row('first'),
    row('second'),
    row('foreign', { organizationId: 'org_2' }),
    row('expiring', { expiresAt: ended }),
    row('revoked', { revokedAt: ended }),
    row('both', { expiresAt: ended, revokedAt: ended }),
    row('foreign and revoked', { organizationId: 'org_2', revokedAt: ended }),
  ];
  const ring = new KeyRing(rows);
  /** Checks a secret for an organization in the last millisecond before the expiry, and at the expiry. */
  const outcomes = (organizationId: string, secret: string) =>
    [END - 1, END].map((now) => ring.check(organizationId, secret, now).outcome);

  const known: [organizationId: string, keyId: string, outcomes: [State, State]][] = [
    ['org_1', 'first', ['valid', 'valid']],
    ['org_1', 'second', ['valid', 'valid']],
    ['org_2', 'foreign', ['valid', 'valid']],
    ['org_1', 'expiring', ['valid', 'expired']],
    ['org_1', 'revoked', ['revoked', 'revoked']],
    ['org_1', 'both', ['revoked', 'revoked']],
    ['org_2', 'foreign and revoked', ['revoked', 'revoked']],
  ];
  for (const [organizationId, keyId, expected] of known) {
    it(`reports ${expected.join(', then ')} for the secret of the key "${keyId}"`, () => {
      expect(outcomes(organizationId, `Secret of ${keyId}`)).to.deep.equal(expected);
      const check = ring.check(organizationId, `Secret of ${keyId}`, END - 1);
      if (check.outcome === 'valid') expect(check).to.include({ keyId, organizationId });
    });

    it(`does not distinguish the key "${keyId}" from an unknown one for another organization or secret`, () => {
      const secret = `Secret of ${keyId}`;
      const similar = [`${secret} `, secret.slice(1), secret.slice(0, -1), secret.toLowerCase(), '', 'guess'];
      const others = [organizationId === 'org_1' ? 'org_2' : 'org_1', 'org_3', 'ORG_1', '__proto__', ''];
      for (const [id, text] of [
        ...similar.map((text) => [organizationId, text]),
        ...others.map((other) => [other, secret]),
      ])
        expect(outcomes(id, text), `${id} ${text}`).to.deep.equal(['unknown', 'unknown']);
    });
  }

  it('counts the valid keys', () => {
    expect([END - 1, END].map((now) => countValid(rows, now))).to.deep.equal([4, 3]);
  });
});

describe('The slots of keys', () => {
  it('differ up to their number, and stay', () => {
    const slots = new Map<string, number>();
    expect(['a', 'b', 'a', 'c'].map((key) => addSlot(slots, key))).to.deep.equal([0, 1, 0, 2]);
    for (let i = 3; i < MAX_SLOTS; i++) addSlot(slots, `key ${i}`);
    expect(['late', 'late', 'b'].map((key) => addSlot(slots, key))).to.deep.equal([0, 0, 1]);
  });
});

describe('The last use of a key', () => {
  const at = (time: string) => Date.parse(`2026-11-21T${time}Z`);

  it('is undefined before the first use', () => {
    expect(lastKeyUse(newLastUses(), 0)).to.equal(undefined);
  });

  it('is the start of the hour of the latest use, for each key', () => {
    const uses = newLastUses();
    noteKeyUse(uses, 3, at('08:00:00.000'));
    expect(lastKeyUse(uses, 3)).to.equal('2026-11-21T08:00:00.000Z');
    noteKeyUse(uses, 3, at('08:59:59.999'));
    expect(lastKeyUse(uses, 3)).to.equal('2026-11-21T08:00:00.000Z');
    noteKeyUse(uses, 3, at('23:30:00.000'));
    expect(lastKeyUse(uses, 3)).to.equal('2026-11-21T23:00:00.000Z');
    expect(lastKeyUse(uses, 2)).to.equal(undefined);
    expect(lastKeyUse(uses, 4)).to.equal(undefined);
  });

  it('follows a clock that is set back', () => {
    const uses = newLastUses();
    noteKeyUse(uses, MAX_SLOTS - 1, at('12:00:00'));
    noteKeyUse(uses, MAX_SLOTS - 1, at('09:15:00'));
    expect(lastKeyUse(uses, MAX_SLOTS - 1)).to.equal('2026-11-21T09:00:00.000Z');
  });
});

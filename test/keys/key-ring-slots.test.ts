import { expect } from 'chai';
import fc from 'fast-check';
import { digestOf } from '../../src/keys/credential.ts';
import {
  KeyNumbers,
  KeyRing,
  type KeyRow,
  lastUseOf,
  MAX_SLOTS,
  newLastUses,
  noteUse,
} from '../../src/keys/key-ring.ts';

describe('The numbers of keys', () => {
  const row = (keyId: string, revokedAt: string | null = null): KeyRow => ({
    keyId,
    organizationId: 'org',
    label: '',
    digest: Buffer.from(digestOf(`secret of ${keyId}`), 'hex'),
    expiresAt: null,
    revokedAt,
  });

  it('differ, and stay', () => {
    const numbers = new KeyNumbers();
    expect(['a', 'b', 'a', 'c'].map((key) => numbers.of(key))).to.deep.equal([0, 1, 0, 2]);
  });

  it('withdraw the revoked and the removed keys of a ring that is in force, and no others, for any history', () => {
    const names = Array.from({ length: 70 }, (_, i) => `key ${i}`);
    const state = fc.constantFrom('valid', 'revoked', 'removed');
    const step = fc.array(state, { minLength: names.length, maxLength: names.length });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
        const numbers = new KeyNumbers();
        const rows = names.map((name) => row(name));
        const ring = new KeyRing(
          rows,
          rows.map(({ keyId }) => numbers.of(keyId)),
          numbers.withdrawn,
        );
        for (const states of steps) {
          numbers.withdrawOthers(
            names.flatMap((name, i) =>
              states[i] === 'removed' ? [] : [row(name, states[i] === 'revoked' ? '2026-11-21' : null)],
            ),
          );
          const outcomes = names.map((name) => ring.check('org', `secret of ${name}`, 0).outcome);
          expect(outcomes).to.deep.equal(states.map((one) => (one === 'valid' ? 'valid' : 'revoked')));
        }
      }),
      { seed: 23 },
    );
  });

  it('withdraw a key beyond the number of slots apart from the one that shares its slot', () => {
    const numbers = new KeyNumbers();
    for (let i = 0; i < MAX_SLOTS; i++) numbers.of(`key ${i}`);
    const rows = [row('key 0'), row('late')];
    const of = rows.map(({ keyId }) => numbers.of(keyId));
    const ring = new KeyRing(rows, of, numbers.withdrawn);
    const outcomes = () => rows.map(({ keyId }) => ring.check('org', `secret of ${keyId}`, 0));
    const [{ slot: first }, { slot: late }] = outcomes() as { slot: number }[];
    expect(first).to.equal(late);
    numbers.withdrawOthers([row('key 0')]);
    expect(outcomes().map(({ outcome }) => outcome)).to.deep.equal(['valid', 'revoked']);
  });
});

describe('The last use of a key', () => {
  const at = (time: string) => Date.parse(`2026-11-21T${time}Z`);

  it('is undefined before the first use', () => {
    expect(lastUseOf(newLastUses(), 0)).to.equal(undefined);
  });

  it('is the start of the hour of the latest use, for each key', () => {
    const uses = newLastUses();
    noteUse(uses, 3, at('08:00:00.000'));
    expect(lastUseOf(uses, 3)).to.equal('2026-11-21T08:00:00.000Z');
    noteUse(uses, 3, at('08:59:59.999'));
    expect(lastUseOf(uses, 3)).to.equal('2026-11-21T08:00:00.000Z');
    noteUse(uses, 3, at('23:30:00.000'));
    expect(lastUseOf(uses, 3)).to.equal('2026-11-21T23:00:00.000Z');
    expect(lastUseOf(uses, 2)).to.equal(undefined);
    expect(lastUseOf(uses, 4)).to.equal(undefined);
  });

  it('follows a clock that is set back', () => {
    const uses = newLastUses();
    noteUse(uses, MAX_SLOTS - 1, at('12:00:00'));
    noteUse(uses, MAX_SLOTS - 1, at('09:15:00'));
    expect(lastUseOf(uses, MAX_SLOTS - 1)).to.equal('2026-11-21T09:00:00.000Z');
  });
});

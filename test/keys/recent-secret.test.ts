import { mock } from 'node:test';
import { expect } from 'chai';
import { FORGET_AFTER_MS, RecentSecret } from '../../src/keys/recent-secret.ts';
import { newSecret, SECRET_LENGTH } from '../../src/keys/secret.ts';

const secret = newSecret();

describe('A recent secret', () => {
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => {
    mock.timers.reset();
  });

  const remembering = (presented: string) => {
    const recent = new RecentSecret();
    recent.remember(presented);
    return recent;
  };

  it('is none until one is remembered', () => {
    expect(new RecentSecret().is(secret)).to.equal(false);
    expect(new RecentSecret().is('\0'.repeat(SECRET_LENGTH))).to.equal(false);
    expect(remembering(secret).is(secret)).to.equal(true);
  });

  it('is no other, wherever that differs', () => {
    const recent = remembering(secret);
    for (let i = 0; i < SECRET_LENGTH; i++) {
      const other = secret.slice(0, i) + (secret[i] === 'A' ? 'B' : 'A') + secret.slice(i + 1);
      expect(recent.is(other), String(i)).to.equal(false);
    }
    expect(recent.is(secret)).to.equal(true);
  });

  it('is none of another length, and none whose characters are cut to the same bytes', () => {
    const recent = remembering(secret);
    const shifted = String.fromCharCode(secret.charCodeAt(0) + 256);
    for (const other of [
      '',
      secret.slice(1),
      `${secret}=`,
      shifted + secret.slice(1),
      shifted + secret.slice(2),
    ]) {
      expect(recent.is(other), other).to.equal(false);
      expect(remembering(other).is(secret), other).to.equal(false);
    }
  });

  it('is the last one that was remembered', () => {
    const recent = remembering(newSecret());
    recent.remember(secret);
    expect(recent.is(secret)).to.equal(true);
  });

  it('is forgotten when it was not presented for a while', () => {
    const recent = remembering(secret);
    mock.timers.tick(2 * FORGET_AFTER_MS);
    expect(recent.is(secret)).to.equal(false);
  });

  it('is not forgotten while it is presented, and is when that is over', () => {
    const recent = remembering(secret);
    for (let i = 0; i < 5; i++) {
      mock.timers.tick(FORGET_AFTER_MS);
      expect(recent.is(newSecret())).to.equal(false);
      expect(recent.is(secret)).to.equal(true);
    }
    mock.timers.tick(2 * FORGET_AFTER_MS);
    expect(recent.is(secret)).to.equal(false);
  });

  it('can be remembered again', () => {
    const recent = remembering(secret);
    mock.timers.tick(2 * FORGET_AFTER_MS);
    recent.remember(secret);
    expect(recent.is(secret)).to.equal(true);
    mock.timers.tick(2 * FORGET_AFTER_MS);
    expect(recent.is(secret)).to.equal(false);
  });
});

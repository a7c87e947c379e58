import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { RecentAnswers } from '../../src/http/recent-answers.ts';

describe('Recent answers', () => {
  const WANTED = 1000;
  const store = {};
  const targets = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `/${from + i}`);
  const answerOf = (pieces: number, text = '') => ({ body: Array<string>(pieces).fill(text) });
  class Twice extends RecentAnswers<{ readonly body: readonly unknown[] }> {
    override set(...set: Parameters<RecentAnswers<{ readonly body: readonly unknown[] }>['set']>): void {
      super.set(...set);
      super.set(...set);
    }
  }
  const recentAnswers = () => new Twice(WANTED);

  it('are those that were set, each of its own store and target', () => {
    const recent = recentAnswers();
    const [one, two, three, four] = ['one', 'two', 'three', 'four'].map((text) => answerOf(1, text));
    const other = {};
    recent.set(store, '/a', one);
    recent.set(store, '/b', two);
    recent.set(other, '/a', three);
    recent.set(store, '/a', four);
    expect(recent.get(store, '/a')).to.equal(four);
    expect(recent.get(store, '/b')).to.equal(two);
    expect(recent.get(other, '/a')).to.equal(three);
    expect(recent.get(other, '/b')).to.equal(undefined);
    expect(recent.get(store, '/c')).to.equal(undefined);
  });

  it('are none for a target that was asked for once', () => {
    const recent = new RecentAnswers<{ readonly body: readonly unknown[] }>(WANTED);
    const answer = answerOf(1);
    recent.set(store, '/a', answer);
    expect(recent.get(store, '/a')).to.equal(undefined);
    recent.set(store, '/b', answer);
    expect(recent.get(store, '/a')).to.equal(undefined);
    recent.set(store, '/a', answer);
    expect(recent.get(store, '/a')).to.equal(answer);
    expect(recent.get(store, '/b')).to.equal(undefined);
  });

  for (const pieces of [0, 1, 100, 3 * WANTED]) {
    it(`of ${pieces} pieces are as many as wanted, and fewer than twice as many`, () => {
      const recent = recentAnswers();
      const each = pieces + 10;
      const atLeast = Math.ceil(WANTED / each);
      const all = targets(0, 10 * atLeast);
      for (const [i, target] of all.entries()) {
        recent.set(store, target, answerOf(pieces));
        const lately = all.slice(Math.max(0, i + 1 - atLeast), i + 1);
        expect(lately.filter((one) => recent.get(store, one) === undefined)).to.deep.equal([]);
      }
      const kept = all.filter((target) => recent.get(store, target) !== undefined);
      expect(kept.length).to.be.within(atLeast, 2 * atLeast);
    });
  }

  it('keep what is asked for again and again', () => {
    const recent = recentAnswers();
    const kept = answerOf(1);
    recent.set(store, '/kept', kept);
    recent.set(store, '/not', answerOf(1));
    for (const target of targets(0, 1000)) {
      recent.set(store, target, answerOf(1));
      expect(recent.get(store, '/kept')).to.equal(kept);
    }
    expect(recent.get(store, '/not')).to.equal(undefined);
  });

  it('do not keep a store that nobody else holds', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const recent = recentAnswers();
    const gone = (() => {
      const replaced = { bytes: new Uint8Array(1000) };
      recent.set(replaced, '/a', { body: [replaced.bytes, replaced] });
      return new WeakRef(replaced);
    })();
    await new Promise(setImmediate);
    collect();
    expect(gone.deref()).to.equal(undefined);
    expect(recent.get({}, '/a')).to.equal(undefined);
  });
});

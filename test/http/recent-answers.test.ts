import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { RecentAnswers } from '../../src/http/recent-answers.ts';

interface TestAnswer {
  readonly size: number;
  readonly what?: unknown;
}

describe('Recent answers', () => {
  const WANTED = 1000;
  const store = {};
  let recent: RecentAnswers<TestAnswer>;
  const targets = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `/${from + i}`);
  const setTwice = (of: object, target: string, answer: TestAnswer) => {
    recent.set(of, target, answer);
    recent.set(of, target, answer);
  };
  const kept = (of: readonly string[]) => of.filter((target) => recent.get(store, target) !== undefined);

  beforeEach(() => {
    recent = new RecentAnswers(WANTED);
  });

  it('are those that were set, each of its own store and target', () => {
    const [one, two, three, four] = ['one', 'two', 'three', 'four'].map((what) => ({ size: 1, what }));
    const other = {};
    setTwice(store, '/a', one);
    setTwice(store, '/b', two);
    setTwice(other, '/a', three);
    setTwice(store, '/a', four);
    expect(recent.get(store, '/a')).to.equal(four);
    expect(recent.get(store, '/b')).to.equal(two);
    expect(recent.get(other, '/a')).to.equal(three);
    expect(recent.get(other, '/b')).to.equal(undefined);
    expect(recent.get(store, '/c')).to.equal(undefined);
  });

  it('are none for a target that was asked for once', () => {
    const answer = { size: 1 };
    recent.set(store, '/a', answer);
    recent.set(store, '/b', answer);
    expect(recent.get(store, '/a')).to.equal(undefined);
    recent.set(store, '/a', answer);
    expect(recent.get(store, '/a')).to.equal(answer);
    expect(recent.get(store, '/b')).to.equal(undefined);
  });

  it('are nearly all that are asked for in turn', () => {
    const all = targets(0, 1800);
    recent = new RecentAnswers(all.length);
    for (let turn = 0; turn < 2; turn++) for (const target of all) recent.set(store, target, { size: 1 });
    expect(kept(all).length).to.be.above(0.95 * all.length);
  });

  for (const size of [1, 10, 33, 3 * WANTED]) {
    it(`of ${size} bytes are as many as wanted, and hardly more than twice as many`, () => {
      const atLeast = Math.ceil(WANTED / size);
      const all = targets(0, 5 * atLeast);
      for (const target of all) setTwice(store, target, { size });
      expect(kept(all.slice(-atLeast))).to.have.length(atLeast);
      for (const target of targets(10_000, 10_000 + 5 * atLeast)) setTwice(store, target, { size });
      const left = [...all, ...targets(10_000, 10_000 + 5 * atLeast)];
      expect(kept(left).length).to.be.within(atLeast, 2 * atLeast);
    });
  }

  it('are not pushed out by one that is set again and again', () => {
    setTwice(store, '/kept', { size: 100 });
    for (let i = 0; i < 1000; i++) recent.set(store, '/again', { size: 100 });
    expect(kept(['/kept', '/again'])).to.have.length(2);
  });

  it('keep what is asked for again and again', () => {
    const answer = { size: 10 };
    setTwice(store, '/kept', answer);
    setTwice(store, '/not', { size: 10 });
    for (const target of targets(0, 1000)) {
      setTwice(store, target, { size: 10 });
      expect(recent.get(store, '/kept')).to.equal(answer);
    }
    expect(recent.get(store, '/not')).to.equal(undefined);
  });

  it('do not keep a store that nobody else holds', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const gone = (() => {
      const replaced = { bytes: new Uint8Array(1000) };
      setTwice(replaced, '/a', { size: 1, what: replaced });
      expect(recent.get(replaced, '/a')).to.have.property('what', replaced);
      return new WeakRef(replaced);
    })();
    await new Promise(setImmediate);
    collect();
    expect(gone.deref()).to.equal(undefined);
  });
});

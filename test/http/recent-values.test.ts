import { expect } from 'chai';
import { RecentValues } from '../../src/http/recent-values.ts';

describe('Recent values', () => {
  const WANTED = 10;
  const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `text ${from + i}`);

  it('are those that were set', () => {
    const recent = new RecentValues<number>(WANTED);
    recent.set('a', 1);
    recent.set('b', 2);
    recent.set('a', 3);
    expect(['a', 'b', 'c'].map((text) => recent.get(text))).to.deep.equal([3, 2, undefined]);
  });

  it('are as many as wanted, and fewer than twice as many', () => {
    const recent = new RecentValues<string>(WANTED);
    for (const [i, text] of texts(0, 1000).entries()) {
      recent.set(text, text);
      const all = texts(0, i + 1);
      for (const one of all.slice(-WANTED)) expect(recent.get(one), one).to.equal(one);
    }
    expect(texts(0, 1000).filter((text) => recent.get(text) !== undefined).length).to.be.within(
      WANTED,
      2 * WANTED,
    );
  });

  it('keep what is asked for again and again', () => {
    const recent = new RecentValues<string>(WANTED);
    recent.set('kept', 'kept');
    recent.set('not', 'not');
    for (const text of texts(0, 100)) {
      recent.set(text, text);
      expect(recent.get('kept')).to.equal('kept');
    }
    expect(recent.get('not')).to.equal(undefined);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { HitCounter } from '../../src/http/hit-counter.ts';

const WINDOW_MS = 60_000;

/** What the counter is to say, worked out from all hits of the past. */
class Oracle {
  readonly #hits: { readonly key: string; readonly at: number }[] = [];

  hit(key: string, at: number): { count: number; millisecondsLeft: number } {
    this.#hits.push({ key, at });
    let opened = -Infinity;
    let count = 0;
    for (const hit of this.#hits.filter((earlier) => earlier.key === key)) {
      if (hit.at - opened >= WINDOW_MS) {
        opened = hit.at;
        count = 0;
      }
      count++;
    }
    return { count, millisecondsLeft: opened + WINDOW_MS - at };
  }

  /** Keys with a hit whose window may still be open. */
  keysSince(at: number): number {
    return new Set(this.#hits.filter((hit) => hit.at > at - WINDOW_MS).map(({ key }) => key)).size;
  }
}

describe('the counter of hits', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    wait: fc.oneof(
      fc.constant(0),
      fc.nat(30),
      fc.nat(20_000),
      fc.constantFrom(59_999, WINDOW_MS, 86_400_000),
    ),
  });

  it('counts by key in windows of fixed length, and remembers no more than those that are open', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        const counter = new HitCounter(WINDOW_MS, () => now);
        const oracle = new Oracle();
        for (const { key, wait } of steps) {
          now += wait;
          expect(counter.hit(key)).to.deep.equal(oracle.hit(key, now));
          expect(counter.size).to.be.at.most(oracle.keysSince(now));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('forgets a key', () => {
    const counter = new HitCounter(WINDOW_MS, () => 0);
    counter.hit('a');
    counter.hit('b');
    counter.forget('a');
    expect(counter.hit('a').count).to.equal(1);
    expect(counter.hit('b').count).to.equal(2);
  });

  it('goes by a clock that nobody sets', () => {
    const realNow = Date.now;
    const counter = new HitCounter(WINDOW_MS);
    try {
      for (const [i, moved] of [0, -86_400_000, 86_400_000].entries()) {
        Date.now = () => realNow() + moved;
        const { count, millisecondsLeft } = counter.hit('a');
        expect(count).to.equal(i + 1);
        expect(millisecondsLeft).to.be.within(WINDOW_MS - 5000, WINDOW_MS);
      }
    } finally {
      Date.now = realNow;
    }
  });
});

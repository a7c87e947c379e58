import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import fc from 'fast-check';
import { HitCounter, HitSlots, newHitCounts } from '../../../src/http/checks/rate-limit.ts';
import { byDepth } from '../../support/depth.ts';
import type { HittingThread } from './hitting-thread.ts';

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

  it('counts by key in windows of fixed length', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        const counter = new HitCounter(WINDOW_MS, { clock: () => now });
        const oracle = new Oracle();
        for (const { key, wait } of steps) {
          now += wait;
          expect(counter.hit(key)).to.deep.equal(oracle.hit(key, now));
        }
      }),
      { numRuns: byDepth({ short: 200, deep: 5000 }) },
    );
  });

  it('makes no window longer than it should be, and a millisecond shorter at most, whatever the moment', () => {
    const moment = fc.double({ min: 0, max: 5e11, noNaN: true });
    fc.assert(
      fc.property(moment, (start) => {
        let now = start;
        const counter = new HitCounter(WINDOW_MS, { clock: () => now });
        const { millisecondsLeft } = counter.hit('a');
        expect(millisecondsLeft).to.be.within(WINDOW_MS - 1, WINDOW_MS);
        now = Math.floor(start) + WINDOW_MS - 1;
        expect(counter.hit('a').count).to.equal(2);
        now = start + WINDOW_MS;
        expect(counter.hit('a').count).to.equal(1);
      }),
    );
  });

  it('counts each hit of any number of threads, and opens one window', async () => {
    const [threads, hits] = [4, 50_000];
    const counts = newHitCounts();
    const requestMetrics = new Int32Array(new SharedArrayBuffer(8));
    const workerData: HittingThread = { counts, key: 'a', hits, requestMetrics, threads };
    const url = new URL('hitting-thread.ts', import.meta.url);
    const started = Array.from({ length: threads }, () => new Worker(url, { workerData }));
    await Promise.all(started.map((thread) => once(thread, 'exit')));
    const counter = new HitCounter(60_000, { counts, slotOf: () => 7 });
    expect(counter.hit('a').count).to.equal(threads * hits + 1);
    expect(requestMetrics[1], 'windows opened').to.equal(1);
  });

  it('says that there were many, when there were more than it can count, and never that the window is longer', () => {
    const counts = newHitCounts();
    const counter = new HitCounter(WINDOW_MS, { counts, slotOf: () => 0, clock: () => 0 });
    counter.hit('a');
    const most = (1n << 24n) - 1n;
    Atomics.or(counts, 0, most);
    for (let i = 0; i < 3; i++) {
      expect(counter.hit('a')).to.deep.equal({ count: Number(most), millisecondsLeft: WINDOW_MS });
    }
  });

  it('has a number for each key, and goes on when there are more keys than numbers', () => {
    const slots = new HitSlots();
    expect(['a', 'b', 'a', 'c'].map((key) => slots.of(key))).to.deep.equal([0, 1, 0, 2]);
    const { length } = newHitCounts();
    const others = Array.from({ length: length - 3 }, (_, i) => slots.of(`key ${i}`));
    expect(others.findIndex((slot, i) => slot !== i + 3)).to.equal(-1);
    expect(slots.of('one more')).to.equal(0);
    expect(slots.of('a')).to.equal(0);
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

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import fc from 'fast-check';
import { monotonicNow } from '../../src/clock.ts';
import { countHit, newHitCounts } from '../../src/counts/hit-counts.ts';
import { byDepth } from '../support/depth.ts';
import type { HittingThread } from './hitting-thread.ts';

const WINDOW_MS = 60_000;

/** The expected counts, computed from all earlier hits. */
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

describe('countHit', () => {
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
    const counts = newHitCounts(128);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        counts.fill(0n);
        const oracle = new Oracle();
        for (const { key, wait } of steps) {
          now += wait;
          expect(countHit(counts, key.charCodeAt(0), WINDOW_MS, now)).to.deep.equal(oracle.hit(key, now));
        }
      }),
      { numRuns: byDepth({ short: 200, deep: 5000 }) },
    );
  });

  it('has windows of the given length, at most a millisecond shorter, at any time', () => {
    const counts = newHitCounts(2 ** 20);
    /** Up to 16 years, in eighths of a millisecond. Most of the numbers of `fc.double` are next to 0. */
    const moment = fc.nat(4e12).map((eighths) => eighths / 8);
    fc.assert(
      fc.property(moment, (start) => {
        counts[0] = 0n;
        const hitAt = (now: number) => countHit(counts, 0, WINDOW_MS, now);
        expect(hitAt(start).millisecondsLeft).to.be.within(WINDOW_MS - 1, WINDOW_MS);
        expect(hitAt(Math.floor(start) + WINDOW_MS - 1).count).to.equal(2);
        expect(hitAt(start + WINDOW_MS).count).to.equal(1);
      }),
    );
  });

  it('counts each hit of any number of threads, and opens one window', async () => {
    const [threads, hits] = [4, 50_000];
    const counts = newHitCounts(2 ** 20);
    const tallies = new Int32Array(new SharedArrayBuffer(8));
    const workerData: HittingThread = { counts, hits, tallies, threads };
    const url = new URL('hitting-thread.ts', import.meta.url);
    const started = Array.from({ length: threads }, () => new Worker(url, { workerData }));
    await Promise.all(started.map((thread) => once(thread, 'exit')));
    expect(countHit(counts, 7, WINDOW_MS, monotonicNow()).count).to.equal(threads * hits + 1);
    expect(tallies[1], 'windows opened').to.equal(1);
  });

  it('stops at the greatest count without touching the end of the window', () => {
    const counts = newHitCounts(2 ** 20);
    countHit(counts, 0, WINDOW_MS, 0);
    const most = (1n << 24n) - 1n;
    Atomics.or(counts, 0, most);
    for (let i = 0; i < 3; i++) {
      expect(countHit(counts, 0, WINDOW_MS, 0)).to.deep.equal({
        count: Number(most),
        millisecondsLeft: WINDOW_MS,
      });
    }
  });
});

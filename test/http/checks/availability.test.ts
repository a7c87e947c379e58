import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { watchOverload } from '../../../src/http/checks/availability.ts';
import { sumMetrics, RequestMetrics } from '../../../src/http/request-metrics.ts';

/** Blocks the event loop for some milliseconds. */
function hold(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

describe('The overload check', () => {
  it('reports an overload while the event loop is late, and no longer', async () => {
    const { isOverloaded, stop } = watchOverload(100, new RequestMetrics());
    try {
      expect(isOverloaded()).to.equal(false);
      hold(400);
      await delay(0);
      expect(isOverloaded()).to.equal(true);
      while (isOverloaded()) await delay(10);
    } finally {
      stop();
    }
  });

  it('never reports one with a limit of 0', async () => {
    const { isOverloaded, stop } = watchOverload(0, new RequestMetrics());
    hold(200);
    await delay(0);
    expect(isOverloaded()).to.equal(false);
    stop();
  });

  it('counts every sample, whatever the limit', async () => {
    const metrics = new RequestMetrics();
    const { stop } = watchOverload(0, metrics);
    const looks = () => sumMetrics([metrics]).delay.counts.reduce((sum, count) => sum + count, 0);
    try {
      hold(200);
      while (looks() < 2) await delay(5);
      const { delay: late } = sumMetrics([metrics]);
      expect(late.sum).to.be.at.least(0.1);
      const above = late.bounds.findIndex((bound) => bound >= 0.1);
      const stalls = late.counts.slice(above + 1).reduce((sum, count) => sum + count, 0);
      expect(stalls).to.be.at.least(1);
    } finally {
      stop();
    }
  });
});

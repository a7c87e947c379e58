import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { watchOverload } from '../../src/http/overload.ts';

/** Holds the event loop for some milliseconds. */
function hold(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

describe('the watch for overload', () => {
  it('tells while the event loop is late, and no longer', async () => {
    const { isOverloaded, stop } = watchOverload(100);
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

  it('never tells with a limit of 0', async () => {
    const { isOverloaded, stop } = watchOverload(0);
    hold(200);
    await delay(0);
    expect(isOverloaded()).to.equal(false);
    stop();
  });
});

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { pollWhileVisible } from '../../../src/pages/status/poll.js';

/** A page, and a task whose runs the test ends. */
class TestPage extends EventTarget {
  hidden = false;
  runs = 0;
  end: () => void = () => undefined;

  setHidden(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }

  readonly run = async () => {
    this.runs++;
    this.dispatchEvent(new Event('run'));
    await new Promise<void>((resolve) => (this.end = resolve));
  };

  /** Ends a run, and waits until the next one starts. */
  async next(): Promise<void> {
    const started = once(this, 'run');
    this.end();
    await started;
  }
}

describe('The polling of the status page', () => {
  let page: TestPage;

  beforeEach(() => {
    page = new TestPage();
  });

  afterEach(() => {
    page.setHidden(true);
    page.end();
  });

  it('runs at once, and again after the end of each run and a pause', async () => {
    pollWhileVisible(page.run, 1, page);
    expect(page.runs).to.equal(1);
    await page.next();
    await page.next();
    expect(page.runs).to.equal(3);
  });

  it('starts no run during another, however long it takes and however often it is asked', async () => {
    const poll = pollWhileVisible(page.run, 1, page);
    poll();
    poll();
    page.setHidden(true);
    page.setHidden(false);
    await delay(10);
    expect(page.runs).to.equal(1);
    await page.next();
    expect(page.runs).to.equal(2);
  });

  it('runs once more, without the pause, when it is asked during a run', async () => {
    const poll = pollWhileVisible(page.run, 1_000_000, page);
    poll();
    await page.next();
    expect(page.runs).to.equal(2);
  });

  it('pauses while the page is hidden, and runs at once when it is visible again', async () => {
    pollWhileVisible(page.run, 1, page);
    page.setHidden(true);
    page.end();
    await delay(10);
    expect(page.runs).to.equal(1);
    page.setHidden(false);
    expect(page.runs).to.equal(2);
  });
});

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { pollWhileVisible } from '../../../src/pages/status/poll.js';

/** The visibility of a page. */
class TestPage extends EventTarget {
  hidden = false;

  setHidden(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

/** A task whose runs the test ends. */
class TestTask extends EventTarget {
  runs = 0;
  #end = Promise.withResolvers<undefined>();

  readonly run = async () => {
    this.runs++;
    this.#end = Promise.withResolvers();
    this.dispatchEvent(new Event('run'));
    await this.#end.promise;
  };

  end(): void {
    this.#end.resolve(undefined);
  }

  /** Fulfilled at the start of the next run. */
  next(): Promise<unknown> {
    return once(this, 'run');
  }
}

describe('The polling of the status page', () => {
  let page: TestPage;
  let task: TestTask;

  beforeEach(() => {
    page = new TestPage();
    task = new TestTask();
  });

  afterEach(() => {
    page.setHidden(true);
    task.end();
  });

  it('runs at once, and again after the end of each run and a pause', async () => {
    pollWhileVisible(task.run, 1, page);
    expect(task.runs).to.equal(1);
    for (const runs of [2, 3]) {
      const next = task.next();
      task.end();
      await next;
      expect(task.runs).to.equal(runs);
    }
  });

  it('starts no run beside another, however long it takes and however often it is asked', async () => {
    const poll = pollWhileVisible(task.run, 1, page);
    poll();
    poll();
    page.setHidden(true);
    page.setHidden(false);
    await delay(10);
    expect(task.runs).to.equal(1);
    const next = task.next();
    task.end();
    await next;
    expect(task.runs).to.equal(2);
  });

  it('runs once more, without the pause, when it is asked during a run', async () => {
    const poll = pollWhileVisible(task.run, 1_000_000, page);
    poll();
    const next = task.next();
    task.end();
    await next;
    expect(task.runs).to.equal(2);
  });

  it('pauses while the page is hidden, and runs at once when it is visible again', async () => {
    pollWhileVisible(task.run, 1, page);
    page.setHidden(true);
    task.end();
    await delay(10);
    expect(task.runs).to.equal(1);
    page.setHidden(false);
    expect(task.runs).to.equal(2);
  });
});

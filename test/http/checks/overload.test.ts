import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { overloadCheck, type OverloadOptions } from '../../../src/http/checks/overload.ts';

const TARGET_MS = 100;
const CONFIG = { overloadDelayMs: TARGET_MS };
const DISABLED = { ...CONFIG, overloadDelayMs: 0 };
const SEED = 20_261_122;

/** An event loop with its own time, in which requests have known costs. */
class SimulatedLoop {
  now = 0;
  answerMs = 1;
  refusalMs = 0.1;
  connections = Infinity;
  readonly #refuses: ReturnType<typeof overloadCheck>;
  readonly #eventLoop = { uvMetricsInfo: { loopCount: 0, events: 0, eventsWaiting: 0 }, idleTime: 0 };

  constructor(options: Partial<OverloadOptions> = {}) {
    const random = new Random(SEED);
    this.#refuses = overloadCheck({
      config: CONFIG,
      connections: () => this.connections,
      openStreams: () => 0,
      clock: () => this.now,
      random: () => random.fraction(),
      eventLoop: this.#eventLoop,
      ...options,
    });
  }

  /** Handles requests in one turn. Returns the share that is refused, and the time of the refusals in the turn. */
  turn(requests: number): { readonly refused: number; readonly ms: number; readonly refusalsMs: number } {
    this.#eventLoop.uvMetricsInfo.loopCount++;
    const start = this.now;
    let refused = 0;
    for (let i = 0; i < requests; i++) {
      const isRefused = this.#refuses();
      if (isRefused) refused++;
      this.now += isRefused ? this.refusalMs : this.answerMs;
    }
    return { refused: refused / requests, ms: this.now - start, refusalsMs: refused * this.refusalMs };
  }

  /** Handles turns of the same number of requests without a pause. Returns the last one. */
  turns(count: number, requests: number) {
    for (let i = 1; i < count; i++) this.turn(requests);
    return this.turn(requests);
  }

  idle(milliseconds: number): void {
    this.now += milliseconds;
    this.#eventLoop.idleTime += milliseconds;
  }
}

describe(`The overload check (seed ${SEED})`, () => {
  let loop: SimulatedLoop;
  beforeEach(() => {
    loop = new SimulatedLoop();
  });

  it('refuses nothing while the waiting requests take less than the target', () => {
    for (let i = 0; i < 50; i++) expect(loop.turn(0.9 * TARGET_MS)).to.have.property('refused', 0);
  });

  it('refuses the share at which the waiting requests take the target', () => {
    loop.refusalMs = 0.02;
    const { refused, ms } = loop.turns(20, 250);
    expect(ms).to.be.within(0.8 * TARGET_MS, 1.2 * TARGET_MS);
    expect(refused).to.be.within(0.5, 0.7);
  });

  it('refuses more the more requests wait, but never all, and leaves most of the time to answers', () => {
    const shares = [120, 160, 220, 2000].map((requests) => {
      const { refused, ms, refusalsMs } = loop.turns(20, requests);
      expect(refusalsMs / ms).to.be.at.most(0.2);
      return refused;
    });
    expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b));
    expect(shares[0]).to.be.within(0.05, 0.4);
    expect(shares.at(-1)).to.be.within(0.5, 0.8);
  });

  it('refuses few requests when a refusal costs as much as an answer', () => {
    loop.refusalMs = loop.answerMs;
    expect(loop.turns(20, 5000).refused).to.be.within(0.1, 0.2);
  });

  it('refuses the same share when answers and refusals take longer', () => {
    for (const answerMs of [0.25, 1, 4]) {
      loop.answerMs = answerMs;
      loop.refusalMs = 0.1 * answerMs;
      expect(loop.turns(20, 5000).refused).to.be.within(0.45, 0.6);
    }
  });

  it('does not count idle time as the cost of a request', () => {
    for (let i = 0; i < 2000; i++) {
      loop.turn(1);
      loop.idle(1000);
    }
    expect(loop.turn(0.9 * TARGET_MS)).to.have.property('refused', 0);
  });

  it('counts no more waiting requests than connections, however long a turn is', () => {
    loop.connections = 90;
    expect(loop.turns(3, 40_000)).to.have.property('refused', 0);
    loop.connections = 200;
    expect(loop.turn(40_000).refused).to.be.greaterThan(0.3);
  });

  it('refuses no request of a caller that sends one at a time, whatever the stalls', () => {
    for (let i = 0; i < 1000; i++) {
      if (i % 10 === 0) loop.now += 250;
      loop.answerMs = i % 7 === 0 ? 250 : 1;
      expect(loop.turn(1)).to.have.property('refused', 0);
    }
  });

  it('refuses nothing when a stall of any length lets some requests wait once', () => {
    loop.turns(50, 10);
    loop.answerMs = 10_000;
    loop.turn(1);
    loop.answerMs = 1;
    expect(loop.turn(80)).to.have.property('refused', 0);
    expect(loop.turn(80)).to.have.property('refused', 0);
  });

  it('ends with the overload: with the first idle turn, or when fewer requests wait', () => {
    for (let i = 0; i < 50; i++) {
      expect(loop.turns(2, 2000).refused).to.be.greaterThan(0.4);
      loop.idle(3);
      expect(loop.turn(1)).to.have.property('refused', 0);
    }
    expect(loop.turns(20, 2000).refused).to.be.greaterThan(0.5);
    loop.turn(50);
    for (let i = 0; i < 50; i++) expect(loop.turn(50)).to.have.property('refused', 0);
  });

  it('never refuses with a target of 0', () => {
    const unlimited = new SimulatedLoop({ config: DISABLED });
    expect(unlimited.turns(20, 5000)).to.have.property('refused', 0);
  });
});

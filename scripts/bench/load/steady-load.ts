import { quantile } from '../figures.ts';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import { requestBytes, type Traffic } from './traffic.ts';

/**
 * A process that asks at a fixed rate, whether or not answers come: one that waits for them would ask for less just
 * when the server is slow. (Usual generators ask for the whole share of a second at its beginning, and count in
 * whole milliseconds: too coarse for what is compared here.)
 */

export interface SteadyLoad extends Traffic {
  readonly perSecond: number;
  readonly connections: number;
}

/** To begin, to tell of the time since it told before and go on, or to tell of it and end. */
export type SteadyOrder = { readonly begin: SteadyLoad } | 'tell' | 'end';

/** Of the requests that were due since it was asked before. */
export interface SteadyAnswer {
  readonly requests: number;
  /** Requests that were not answered as they should. */
  readonly failed: number;
  /** From when a request was due to the last byte of its answer; a wait for a free connection is part of it. */
  readonly p99Ms: number;
  readonly longestMs: number;
}

const TICK_MS = 1;

/** The requests that were due in some time. */
class Window {
  readonly #latencies: number[] = [];
  #due = 0;
  #failed = 0;
  #whenOver: ((answer: SteadyAnswer) => void) | undefined;

  /** A request is due. */
  add(): void {
    this.#due++;
  }

  answer(latencyMs: number, isRight: boolean): void {
    this.#latencies.push(latencyMs);
    if (!isRight) this.#failed++;
    this.#tell();
  }

  /** @param tell is called when every request has its answer */
  end(tell: (answer: SteadyAnswer) => void): void {
    this.#whenOver = tell;
    this.#tell();
  }

  #tell(): void {
    if (this.#latencies.length < this.#due) return;
    this.#whenOver?.({
      requests: this.#due,
      failed: this.#failed,
      p99Ms: quantile(this.#latencies, 0.99),
      longestMs: quantile(this.#latencies, 1),
    });
  }
}

/** A load from its beginning to its end. */
class Run {
  readonly #load: SteadyLoad;
  readonly #requests: readonly Buffer[];
  readonly #waiting: { readonly dueAt: number; readonly window: Window }[] = [];
  readonly #open = new Set<KeepAliveConnection>();
  readonly #idle: KeepAliveConnection[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #beganAt = performance.now();
  #window = new Window();
  #asked = 0;
  #next = 0;
  #isOver = false;

  constructor(load: SteadyLoad) {
    this.#load = load;
    this.#requests = load.targets.map((target) => requestBytes(load.port, load.credential, target));
    for (let i = 0; i < load.connections; i++) this.#connect();
    this.#timer = setInterval(() => {
      this.#tick();
    }, TICK_MS);
  }

  tell(then: (answer: SteadyAnswer) => void): void {
    const ended = this.#window;
    this.#window = new Window();
    ended.end(then);
  }

  end(then: (answer: SteadyAnswer) => void): void {
    clearInterval(this.#timer);
    this.tell((answer) => {
      this.#isOver = true;
      for (const connection of this.#open) connection.close();
      then(answer);
    });
  }

  #tick(): void {
    // What is late because this process was is due now: it is the server that is looked at.
    const now = performance.now();
    for (; this.#asked < ((now - this.#beganAt) * this.#load.perSecond) / 1000; this.#asked++) {
      this.#window.add();
      this.#waiting.push({ dueAt: now, window: this.#window });
    }
    this.#askWaiting();
  }

  #connect(): void {
    const connection = new KeepAliveConnection(this.#load.port, () => {
      this.#open.delete(connection);
      const at = this.#idle.indexOf(connection);
      if (at >= 0) this.#idle.splice(at, 1);
      if (!this.#isOver) this.#connect();
    });
    this.#open.add(connection);
    this.#idle.push(connection);
  }

  #askWaiting(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#idle.shift();
      if (connection === undefined) return;
      const request = this.#waiting.shift();
      if (request === undefined) return;
      connection.ask(this.#requests[this.#next++ % this.#requests.length], (status) => {
        request.window.answer(performance.now() - request.dueAt, status === this.#load.status);
        if (status === 0) return;
        this.#idle.push(connection);
        this.#askWaiting();
      });
    }
  }
}

let run: Run | undefined;
const NOTHING: SteadyAnswer = { requests: 0, failed: 0, p99Ms: 0, longestMs: 0 };

process.on('message', (order: SteadyOrder) => {
  const tell = (answer: SteadyAnswer) => process.send?.(answer);
  if (order === 'tell') run?.tell(tell);
  else if (order === 'end') run?.end(tell);
  else {
    run = new Run(order.begin);
    tell(NOTHING);
  }
});
process.once('disconnect', () => process.exit());

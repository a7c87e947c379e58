import { KeepAliveConnection } from './keep-alive-connection.ts';
import { quantile } from './statistics.ts';
import type { Traffic } from './traffic.ts';

/**
 * A process that asks at a fixed rate, whether or not answers come: one that waits for them would ask for less just
 * when the server is slow. (autocannon asks for the whole share of a second at its beginning, and counts in whole
 * milliseconds: too coarse for what is compared here.)
 */

export interface SteadyLoad extends Traffic {
  readonly perSecond: number;
  readonly connections: number;
}

/** Of the requests that were due since it was asked before. */
export interface SteadyAnswer {
  readonly requests: number;
  /** Requests that were not answered with 200. */
  readonly failed: number;
  /** From when a request was due to the last byte of its answer; a wait for a free connection is part of it. */
  readonly p99Ms: number;
  readonly longestMs: number;
}

const TICK_MS = 1;

const { port, credential, paths, perSecond, connections } = JSON.parse(process.argv[2]) as SteadyLoad;
const requests = paths.map((path) =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${credential}\r\n\r\n`),
);

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

  answer(latencyMs: number, status: number): void {
    this.#latencies.push(latencyMs);
    if (status !== 200) this.#failed++;
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

let window = new Window();
const waiting: { readonly dueAt: number; readonly window: Window }[] = [];
const idle: KeepAliveConnection[] = [];
for (let i = 0; i < connections; i++) connect();

const startedAt = performance.now();
let asked = 0;
let next = 0;
setInterval(() => {
  // What is late because this process was is due now: it is the server that is looked at.
  const now = performance.now();
  for (; asked < ((now - startedAt) * perSecond) / 1000; asked++) {
    window.add();
    waiting.push({ dueAt: now, window });
  }
  askWaiting();
}, TICK_MS);

process.on('message', () => {
  const ended = window;
  window = new Window();
  ended.end((answer) => process.send?.(answer));
});
process.once('disconnect', () => process.exit());

function connect(): void {
  const connection = new KeepAliveConnection(port, () => {
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    connect();
  });
  idle.push(connection);
}

function askWaiting(): void {
  while (waiting.length > 0) {
    const connection = idle.shift();
    if (connection === undefined) return;
    const request = waiting.shift();
    if (request === undefined) return;
    connection.ask(requests[next++ % requests.length], (status) => {
      request.window.answer(performance.now() - request.dueAt, status);
      if (status === 0) return;
      idle.push(connection);
      askWaiting();
    });
  }
}
